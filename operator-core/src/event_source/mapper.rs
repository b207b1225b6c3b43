//! Which primaries a secondary belongs to.

use std::{collections::BTreeSet, fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Primaries, filter::fenced};
use crate::{
    cache::{Kept, View},
    resource::{Cluster, KubeObject, MappingAnnotations, ObjectKey, ResourceType, is_owned_by},
};

type MapFn<K> = Arc<dyn Fn(&K) -> Vec<ObjectKey> + Send + Sync>;
type MapWithFn<K> = Arc<dyn Fn(&K, &dyn Primaries) -> Vec<ObjectKey> + Send + Sync>;

/// Maps a secondary to the primaries it belongs to. JOSDK: `SecondaryToPrimaryMapper`.
pub enum SecondaryToPrimary<K> {
    /// By what the framework puts on the objects that it makes: owner references that point at the controller's primary type,
    /// or the default mapping annotations. The version of the primary's type is ignored.
    Marks,
    /// By mapping annotations with keys of the user's own.
    Annotations(MappingAnnotations),
    /// By a function of the secondary.
    Function(MapFn<K>),
    /// By a function of the secondary and of what is known of the primaries.
    WithPrimaries(MapWithFn<K>),
}

impl<K: KubeObject> SecondaryToPrimary<K> {
    /// Maps by a function of the secondary alone: it is asked again for the same object and must answer the same.
    pub fn function(map: impl Fn(&K) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        Self::Function(Arc::new(map))
    }

    /// Maps by a function that may look at the primaries as well, for example by an index over them.
    pub fn function_with(map: impl Fn(&K, &dyn Primaries) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        Self::WithPrimaries(Arc::new(map))
    }

    /// Only the user's functions need the object itself.
    pub(super) fn primaries(
        &self,
        key: &ObjectKey,
        secondary: &Arc<Kept>,
        view: &View<K>,
        primary_type: &ResourceType,
        primaries: &dyn Primaries,
    ) -> BTreeSet<ObjectKey> {
        let opened = |map: &dyn Fn(&K) -> Vec<ObjectKey>| {
            let mapped = view.open(secondary).map(|secondary| fenced(|| map(&secondary), Vec::new()));
            mapped.unwrap_or_default().into_iter().collect()
        };
        match self {
            Self::WithPrimaries(map) => opened(&|secondary| map(secondary, primaries)),
            Self::Function(map) => opened(&|secondary| map(secondary)),
            Self::Annotations(keys) => annotated(keys, key, secondary, primary_type).into_iter().collect(),
            Self::Marks => {
                let namespace = key.namespace().filter(|_| primary_type.is_namespaced());
                let owners = secondary.owners().unwrap_or_default();
                let owners = owners.iter().filter(|owner| is_owned_by(owner, primary_type));
                owners
                    .map(|owner| ObjectKey::new(Cluster::local(), namespace, &owner.name))
                    .chain(annotated(&MappingAnnotations::default(), key, secondary, primary_type))
                    .collect()
            }
        }
    }
}

fn annotated(
    keys: &MappingAnnotations,
    key: &ObjectKey,
    secondary: &Kept,
    primary_type: &ResourceType,
) -> Option<ObjectKey> {
    let namespace = key.namespace().map(str::to_owned);
    let meta = ObjectMeta { namespace, annotations: secondary.annotations(), ..ObjectMeta::default() };
    keys.primary_in(&meta, primary_type)
}

impl<K> Clone for SecondaryToPrimary<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Marks => Self::Marks,
            Self::Annotations(keys) => Self::Annotations(keys.clone()),
            Self::Function(map) => Self::Function(Arc::clone(map)),
            Self::WithPrimaries(map) => Self::WithPrimaries(Arc::clone(map)),
        }
    }
}

impl<K> fmt::Debug for SecondaryToPrimary<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Marks => "Marks",
            Self::Annotations(_) => "Annotations",
            Self::Function(_) => "Function",
            Self::WithPrimaries(_) => "WithPrimaries",
        })
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{
            apps::v1::Deployment,
            core::v1::{ConfigMap, Node},
        },
        apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
    };

    use super::*;
    use crate::{
        cache::tests::known::{kept, view},
        event_source::test_wiring::Known,
    };

    fn owned_by(api_version: &str, kind: &str) -> ConfigMap {
        let owner = OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: "web".into(),
            ..OwnerReference::default()
        };
        ConfigMap {
            metadata: ObjectMeta {
                name: Some("html".into()),
                namespace: Some("shop".into()),
                owner_references: Some(vec![owner]),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        }
    }

    fn primaries(
        mapper: &SecondaryToPrimary<ConfigMap>,
        secondary: &ConfigMap,
        primary_type: &ResourceType,
    ) -> BTreeSet<ObjectKey> {
        mapper.primaries(
            &ObjectKey::of(secondary),
            &kept(secondary),
            &view(),
            primary_type,
            &Known::default(),
        )
    }

    #[test]
    fn an_owner_is_looked_for_in_the_namespace_of_the_secondary() {
        let primaries = primaries(
            &SecondaryToPrimary::Marks,
            &owned_by("apps/v1", "Deployment"),
            &ResourceType::of::<Deployment>(),
        );
        assert_eq!(primaries, [ObjectKey::namespaced("shop", "web")].into());
    }

    #[test]
    fn a_cluster_scoped_owner_has_no_namespace() {
        let primaries =
            primaries(&SecondaryToPrimary::Marks, &owned_by("v1", "Node"), &ResourceType::of::<Node>());
        assert_eq!(primaries, [ObjectKey::cluster_scoped("web")].into());
    }

    #[test]
    fn a_mapper_that_panics_maps_to_nothing() {
        let mapper = SecondaryToPrimary::function(|_: &ConfigMap| panic!("no"));
        assert!(primaries(&mapper, &owned_by("v1", "Node"), &ResourceType::of::<Node>()).is_empty());
    }
}
