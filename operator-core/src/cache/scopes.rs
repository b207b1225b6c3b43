//! The part of the cluster that an informer follows.

use std::{collections::BTreeSet, sync::Arc};

use crate::resource::{Cluster, ObjectKey, ResourceType};

/// The namespaces that are watched. Cluster-scoped types are always watched as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WatchScope {
    /// All namespaces, by one watch.
    #[default]
    All,
    /// These namespaces, by one watch each.
    Namespaces(BTreeSet<String>),
    /// The namespace that the operator runs in: the pod's, by the file of its service account, or the one that the
    /// kubeconfig's context names. JOSDK: `WatchCurrentNamespace`.
    ///
    /// An operator whose configuration names neither doesn't start. One that was given by
    /// [`OperatorBuilder::config`](crate::OperatorBuilder::config) names its `default_namespace`.
    Current,
}

/// These namespaces: `["shop", "bank"].into()`.
impl<N: Into<String>, I: IntoIterator<Item = N>> From<I> for WatchScope {
    fn from(namespaces: I) -> Self {
        Self::Namespaces(namespaces.into_iter().map(Into::into).collect())
    }
}

impl WatchScope {
    /// The same for an operator that runs in this namespace.
    pub(crate) fn in_place(&self, namespace: &str) -> Self {
        match self {
            Self::Current => Self::from([namespace]),
            Self::All | Self::Namespaces(_) => self.clone(),
        }
    }
}

/// The position of a collection among those that one informer follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeIndex(pub(super) usize);

/// The collections that one informer follows: one for all namespaces, or one for each namespace.
#[derive(Clone, Debug)]
pub(super) struct Scopes {
    /// Sorted; only `None` means "everything".
    namespaces: Arc<[Option<String>]>,
    /// The cluster that they are in.
    cluster: Cluster,
}

impl Scopes {
    pub(super) fn new(scope: &WatchScope, resource_type: &ResourceType) -> Self {
        let namespaces = match scope {
            WatchScope::Namespaces(names) if resource_type.is_namespaced() => {
                names.iter().cloned().map(Some).collect()
            }
            // Which one is current was found out before.
            WatchScope::Namespaces(_) | WatchScope::All | WatchScope::Current => Arc::from([None]),
        };
        Self { namespaces, cluster: Cluster::local() }
    }

    /// The same in another cluster.
    pub(super) fn within(self, cluster: Cluster) -> Self {
        Self { cluster, ..self }
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The collection that an object belongs to; `None` if it is not followed.
    pub(super) fn of(&self, key: &ObjectKey) -> Option<ScopeIndex> {
        if *key.cluster() != self.cluster {
            return None;
        }
        if let [None] = &*self.namespaces {
            return Some(ScopeIndex(0));
        }
        let wanted = key.namespace();
        self.namespaces.binary_search_by(|held| held.as_deref().cmp(&wanted)).ok().map(ScopeIndex)
    }

    pub(super) fn namespace(&self, scope: ScopeIndex) -> Option<&str> {
        self.namespaces[scope.0].as_deref()
    }

    /// The collection of a namespace that is followed separately.
    pub(super) fn of_namespace(&self, namespace: &str) -> Option<ScopeIndex> {
        self.namespaces.binary_search_by(|held| held.as_deref().cmp(&Some(namespace))).ok().map(ScopeIndex)
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = ScopeIndex> + use<> {
        (0..self.namespaces.len()).map(ScopeIndex)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};

    use super::*;

    #[test]
    fn an_object_belongs_to_the_collection_of_its_namespace() {
        let watched = WatchScope::Namespaces(BTreeSet::from(["shop".to_owned(), "bank".to_owned()]));
        let scopes = Scopes::new(&watched, &ResourceType::of::<ConfigMap>());
        let shop = scopes.of(&ObjectKey::namespaced("shop", "a"));
        assert_eq!(shop.map(|scope| scopes.namespace(scope)), Some(Some("shop")));
        assert_eq!(scopes.of(&ObjectKey::namespaced("other", "a")), None);
    }

    #[test]
    fn a_cluster_scoped_type_is_followed_as_a_whole() {
        let watched = WatchScope::Namespaces(BTreeSet::from(["shop".to_owned()]));
        let scopes = Scopes::new(&watched, &ResourceType::of::<Namespace>());
        assert_eq!(scopes.of(&ObjectKey::cluster_scoped("a")), Some(ScopeIndex(0)));
        assert_eq!(scopes.namespace(ScopeIndex(0)), None);
    }
}
