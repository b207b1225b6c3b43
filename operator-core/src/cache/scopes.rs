//! The part of the cluster that an informer follows.
//!
//! ```text
//! [a, b] ──change──▶ [b, c]     a: left, its objects are forgotten
//!                               b: the same collection continues
//!                               c: new
//! [a, b] ──change──▶ all        new, with the objects of a and b from the start
//! ```

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::RwLock;
use tokio::sync::{Notify, SetOnce, futures::Notified};

use crate::resource::{Cluster, ObjectKey, ResourceType, is_label};

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

/// Names that stand for all namespaces in other tools.
const WORDS_FOR_ALL: [&str; 3] = ["", "*", "JOSDK_ALL_NAMESPACES"];

/// Why this can't be the name of a namespace. A server answers with an empty list, so the mistake would stay unnoticed.
pub(crate) fn wrong_namespace(name: &str) -> Option<&'static str> {
    if WORDS_FOR_ALL.contains(&name) {
        return Some("it stands for all namespaces, and no namespace can have this name");
    }
    let valid = name.len() <= 63 && is_label(name);
    (!valid).then_some("the name of a namespace has lower-case letters, digits and `-`, 63 at most")
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

/// Identifies a collection of one informer; never used again for another collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeIndex(pub(super) usize);

/// The collections that one informer follows: one for all namespaces, or one for each namespace. Clones share them. They
/// change under the informer's lock only.
#[derive(Clone, Debug)]
pub(super) struct Scopes {
    followed: Arc<RwLock<Followed>>,
    changed: Arc<Notify>,
    is_namespaced: bool,
    /// The cluster that they are in.
    cluster: Cluster,
}

#[derive(Debug)]
struct Followed {
    /// Sorted by namespace; only `None` means "everything".
    collections: Vec<ScopeState>,
    next: usize,
}

#[derive(Clone, Debug)]
struct ScopeState {
    namespace: Option<String>,
    index: ScopeIndex,
    /// Set once it was listed for the first time.
    synced: Arc<SetOnce<()>>,
    /// The namespaces whose objects were known before that, from collections that were followed before.
    known: Inherited,
}

/// The objects of a collection that were followed before, by another one.
#[derive(Clone, Debug)]
enum Inherited {
    All,
    Of(BTreeSet<String>),
}

/// The result of a change.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// The collections that are not followed any more.
    pub(super) left: Vec<ScopeIndex>,
    pub(super) new: Vec<ScopeIndex>,
}

impl Scopes {
    pub(super) fn new(scope: &WatchScope, resource_type: &ResourceType) -> Self {
        let is_namespaced = resource_type.is_namespaced();
        let mut followed = Followed { collections: Vec::new(), next: 0 };
        for namespace in namespaces(scope, is_namespaced) {
            let collection = followed.collection(namespace, Inherited::Of(BTreeSet::new()));
            followed.collections.push(collection);
        }
        Self {
            followed: Arc::new(RwLock::new(followed)),
            changed: Arc::default(),
            is_namespaced,
            cluster: Cluster::local(),
        }
    }

    /// The same in another cluster.
    pub(super) fn within(self, cluster: Cluster) -> Self {
        Self { cluster, ..self }
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Follows this scope instead. A collection that is in both continues.
    pub(super) fn change(&self, scope: &WatchScope) -> Changed {
        let mut followed = self.followed.write();
        let before = std::mem::take(&mut followed.collections);
        let mut changed = Changed::default();
        for namespace in namespaces(scope, self.is_namespaced) {
            let same = before.iter().find(|collection| collection.namespace == namespace);
            let collection = match same {
                Some(same) => same.clone(),
                None => {
                    let known = known_before(&before, namespace.as_deref());
                    let new = followed.collection(namespace, known);
                    changed.new.push(new.index);
                    new
                }
            };
            followed.collections.push(collection);
        }
        let goes_on = |index| followed.collections.iter().any(|collection| collection.index == index);
        changed.left = before.iter().map(|left| left.index).filter(|index| !goes_on(*index)).collect();
        drop(followed);
        self.changed.notify_waiters();
        changed
    }

    /// Resolves with the next change, from the moment when it was first polled or enabled.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// The collection that an object belongs to; `None` if it is not followed.
    pub(super) fn of(&self, key: &ObjectKey) -> Option<ScopeIndex> {
        self.holding(key, |collection| collection.index)
    }

    fn holding<T>(&self, key: &ObjectKey, of: impl FnOnce(&ScopeState) -> T) -> Option<T> {
        if *key.cluster() != self.cluster {
            return None;
        }
        let followed = self.followed.read();
        if let [everything @ ScopeState { namespace: None, .. }] = &*followed.collections {
            return Some(of(everything));
        }
        followed.find(key.namespace()?).map(of)
    }

    /// Whether the state of an object is known for certain: its collection has been listed, or one that it belonged to
    /// before.
    pub(super) fn is_known(&self, key: &ObjectKey) -> bool {
        let known = self.holding(key, |collection| collection.knows(key.namespace()));
        known.unwrap_or(true)
    }

    pub(super) fn namespace(&self, scope: ScopeIndex) -> Option<String> {
        let followed = self.followed.read();
        followed.collections.iter().find(|collection| collection.index == scope)?.namespace.clone()
    }

    /// The collection of a namespace that is followed separately.
    pub(super) fn of_namespace(&self, namespace: &str) -> Option<ScopeIndex> {
        self.followed.read().find(namespace).map(|collection| collection.index)
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = ScopeIndex> + use<> {
        let followed = self.followed.read();
        followed.collections.iter().map(|collection| collection.index).collect::<Vec<_>>().into_iter()
    }

    /// By collection: set once it was listed for the first time; nothing for one that isn't followed any more.
    pub(super) fn synced(&self, scope: ScopeIndex) -> Option<Arc<SetOnce<()>>> {
        let followed = self.followed.read();
        let collection = followed.collections.iter().find(|collection| collection.index == scope)?;
        Some(Arc::clone(&collection.synced))
    }
}

impl Followed {
    fn collection(&mut self, namespace: Option<String>, known: Inherited) -> ScopeState {
        let index = ScopeIndex(self.next);
        self.next += 1;
        ScopeState { namespace, index, synced: Arc::new(SetOnce::new()), known }
    }

    fn find(&self, namespace: &str) -> Option<&ScopeState> {
        let found = self.collections.binary_search_by(|held| held.namespace.as_deref().cmp(&Some(namespace)));
        Some(&self.collections[found.ok()?])
    }
}

impl ScopeState {
    fn knows(&self, namespace: Option<&str>) -> bool {
        self.synced.initialized()
            || match (&self.known, namespace) {
                (Inherited::All, _) => true,
                (Inherited::Of(known), Some(namespace)) => known.contains(namespace),
                (Inherited::Of(_), None) => false,
            }
    }
}

/// What was known of a new collection through the collections `before`.
fn known_before(before: &[ScopeState], namespace: Option<&str>) -> Inherited {
    match (namespace, before) {
        (Some(_), [everything @ ScopeState { namespace: None, .. }]) if everything.knows(namespace) => {
            Inherited::All
        }
        (Some(_), _) => Inherited::Of(BTreeSet::new()),
        (None, before) => {
            let known = before.iter().filter(|collection| collection.knows(collection.namespace.as_deref()));
            Inherited::Of(known.filter_map(|collection| collection.namespace.clone()).collect())
        }
    }
}

/// In order.
fn namespaces(scope: &WatchScope, is_namespaced: bool) -> Vec<Option<String>> {
    match scope {
        WatchScope::Namespaces(names) if is_namespaced => names.iter().cloned().map(Some).collect(),
        // The current one was determined before.
        WatchScope::Namespaces(_) | WatchScope::All | WatchScope::Current => vec![None],
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};

    use super::*;

    fn of<const N: usize>(names: [&str; N]) -> WatchScope {
        WatchScope::Namespaces(names.map(str::to_owned).into())
    }

    fn key(namespace: &str) -> ObjectKey {
        ObjectKey::namespaced(namespace, "a")
    }

    #[test]
    fn an_object_belongs_to_the_collection_of_its_namespace() {
        let scopes = Scopes::new(&of(["shop", "bank"]), &ResourceType::of::<ConfigMap>());
        let shop = scopes.of(&key("shop")).and_then(|scope| scopes.namespace(scope));
        assert_eq!(shop.as_deref(), Some("shop"));
        assert_eq!(scopes.of(&key("other")), None);
        assert_eq!(scopes.of(&key("shop").in_cluster("edge")), None);
    }

    #[test]
    fn a_cluster_scoped_type_is_followed_as_a_whole() {
        let scopes = Scopes::new(&of(["shop"]), &ResourceType::of::<Namespace>());
        assert_eq!(scopes.of(&ObjectKey::cluster_scoped("a")), Some(ScopeIndex(0)));
        assert_eq!(scopes.namespace(ScopeIndex(0)), None);
        let changed = scopes.change(&of(["bank"]));
        assert!(changed.new.is_empty() && changed.left.is_empty(), "{changed:?}");
    }

    #[test]
    fn a_collection_in_both_goes_on_and_none_is_used_twice() {
        let scopes = Scopes::new(&of(["a", "b"]), &ResourceType::of::<ConfigMap>());
        let (a, b) = (scopes.of(&key("a")), scopes.of(&key("b")));
        let changed = scopes.change(&of(["b", "c"]));
        assert_eq!((changed.left, scopes.of(&key("b"))), (Vec::from_iter(a), b));
        assert_eq!((changed.new, scopes.of(&key("c"))), (vec![ScopeIndex(2)], Some(ScopeIndex(2))));
        assert_eq!(scopes.of(&key("a")), None);
        scopes.change(&of(["a", "b"]));
        assert_eq!(scopes.of(&key("a")), Some(ScopeIndex(3)), "begins anew");
    }

    #[test]
    fn what_was_known_before_is_known_in_the_new_collection() {
        let scopes = Scopes::new(&of(["a", "b"]), &ResourceType::of::<ConfigMap>());
        let list = |namespace: &str| {
            let scope = scopes.of(&key(namespace)).expect("it is followed");
            let _ = scopes.synced(scope).expect("it is followed").set(());
        };
        list("a");
        scopes.change(&WatchScope::All);
        assert!(scopes.is_known(&key("a")) && !scopes.is_known(&key("b")) && !scopes.is_known(&key("c")));
        list("c");
        assert!(scopes.is_known(&key("b")), "everything was listed");
        scopes.change(&of(["b"]));
        assert!(scopes.is_known(&key("b")));
        scopes.change(&of(["b", "c"]));
        assert!(!scopes.is_known(&key("c")), "nobody followed it in between");
    }
}
