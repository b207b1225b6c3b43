//! Which primaries a secondary belongs to.

use std::{
    any::{Any, TypeId},
    collections::BTreeSet,
    fmt,
    sync::Arc,
};

use super::{Primaries, filter::fenced_or};
use crate::{
    cache::{TextObject, View},
    resource::{Cluster, KubeObject, MappingAnnotations, Object, ObjectKey, ResourceType, is_owned_by},
};

type MapFn = Arc<dyn Fn(&dyn Object, &dyn Primaries) -> Vec<ObjectKey> + Send + Sync>;

/// Maps a secondary to the primaries it belongs to. JOSDK: `SecondaryToPrimaryMapper`.
#[derive(Clone)]
pub(crate) enum SecondaryToPrimary {
    /// By the marks of the framework: owner references to the controller's primary type, or the default mapping
    /// annotations. The version of the primary's type is ignored.
    Marks,
    /// By mapping annotations with custom keys.
    Annotations(MappingAnnotations),
    /// By a function of the secondary and of the known primaries.
    Function(MapFn, TypeId),
}

impl SecondaryToPrimary {
    /// Maps by a function of a secondary of type `K`, and of the known primaries. It is called again for the same object
    /// and must return the same.
    pub(crate) fn function<K: KubeObject>(
        map: impl Fn(&K, &dyn Primaries) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        let of = map.type_id();
        let map = move |object: &dyn Object, primaries: &dyn Primaries| {
            object.typed_ref().map_or_else(Vec::new, |object| map(object, primaries))
        };
        Self::Function(Arc::new(map), of)
    }

    /// Whether it is a function, which needs the object itself.
    pub(super) const fn is_function(&self) -> bool {
        matches!(self, Self::Function(..))
    }

    /// Only the user's functions need the object itself.
    pub(super) fn primaries(
        &self,
        key: &ObjectKey,
        secondary: &Arc<TextObject>,
        view: &View,
        primary_type: &ResourceType,
        primaries: &dyn Primaries,
    ) -> BTreeSet<ObjectKey> {
        match self {
            Self::Function(map, _) => {
                let object = view.open(secondary);
                let mapped = object.map(|object| fenced_or(|| map(&*object, primaries), Vec::new()));
                mapped.unwrap_or_default().into_iter().collect()
            }
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
    secondary: &TextObject,
    primary_type: &ResourceType,
) -> Option<ObjectKey> {
    keys.primary_by(|name| secondary.annotation(name), key.namespace(), primary_type)
}

impl fmt::Debug for SecondaryToPrimary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marks => f.write_str("Marks"),
            Self::Annotations(keys) => f.debug_tuple("Annotations").field(keys).finish(),
            // Functions with the same code are equal; captured values don't count.
            Self::Function(_, of) => f.debug_tuple("Function").field(of).finish(),
        }
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
        event_source::wiring_for_tests::MockPrimaries,
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
        mapper: &SecondaryToPrimary,
        secondary: &ConfigMap,
        primary_type: &ResourceType,
    ) -> BTreeSet<ObjectKey> {
        mapper.primaries(
            &ObjectKey::of(secondary),
            &kept(secondary),
            &view::<ConfigMap>(),
            primary_type,
            &MockPrimaries::default(),
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
        let mapper = SecondaryToPrimary::function(|_: &ConfigMap, _| panic!("no"));
        assert!(primaries(&mapper, &owned_by("v1", "Node"), &ResourceType::of::<Node>()).is_empty());
    }
}
