//! Objects that dependents have deleted and that aren't gone yet: an event source that shows only marked objects doesn't
//! see the end of one whose label is removed in the meantime. And objects that a node leaves to another one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::resource::{ObjectKey, ResourceType};

/// Those of a primary.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    /// Those that are being deleted, with their uids, by node. A node may have objects of several kinds with the same name.
    deleted: BTreeMap<Arc<str>, BTreeMap<(ResourceType, ObjectKey), String>>,
    /// Those that a node leaves to another one.
    given_up: BTreeSet<(String, ResourceType, ObjectKey)>,
    /// Those whose deletion the server has taken, with their uids, and whether something keeps them: what a watch still shows of
    /// them is old.
    taken: BTreeMap<(ResourceType, ObjectKey), (String, bool)>,
}

impl Leaving {
    /// Records that an object of that node is being deleted.
    pub(crate) fn note(&mut self, node: &str, object: (ResourceType, ObjectKey), uid: String) {
        self.deleted.entry(Arc::from(node)).or_default().insert(object, uid);
    }

    /// The objects of that node and kind that are being deleted, as far as their end has not been seen.
    pub(crate) fn of(&self, node: &str, kind: &ResourceType) -> BTreeMap<ObjectKey, String> {
        let of_node = self.deleted.get(node).into_iter().flatten();
        let of_kind = of_node.filter(|((of, _), _)| of == kind);
        of_kind.map(|((_, key), uid)| (key.clone(), uid.clone())).collect()
    }

    /// Records that an object that this node has made is wanted by another one, and no longer by this one.
    pub(crate) fn give_up(&mut self, node: &str, (kind, key): (ResourceType, ObjectKey)) {
        self.given_up.insert((node.to_owned(), kind, key));
    }

    /// Whether that was so when it was last known.
    pub(crate) fn has_given_up(&self, node: &str, (kind, key): (&ResourceType, &ObjectKey)) -> bool {
        self.given_up.iter().any(|(by, of, given_up)| by == node && of == kind && given_up == key)
    }

    /// Records that the server has taken the deletion of an object, and whether something keeps it. The end of these `others` of its
    /// kind was seen.
    pub(crate) fn take(
        &mut self,
        object: (ResourceType, ObjectKey),
        (uid, is_kept): (&str, bool),
        others: &BTreeSet<ObjectKey>,
    ) {
        self.taken.retain(|(kind, key), _| *kind != object.0 || !others.contains(key));
        self.taken.insert(object, (uid.to_owned(), is_kept));
    }

    /// Whether it is time to ask which have gone: now and then, so that each is asked about a few times.
    pub(crate) fn is_crowded(&self) -> bool {
        self.taken.len().is_power_of_two()
    }

    /// The objects of that kind whose deletion the server has taken, with their uids.
    pub(crate) fn all_taken(&self, kind: &ResourceType) -> Vec<(ObjectKey, String)> {
        let of_kind = self.taken.iter().filter(|((of, _), _)| of == kind);
        of_kind.map(|((_, key), (uid, _))| (key.clone(), uid.clone())).collect()
    }

    /// Whether something keeps the object with this uid, if the server has taken its deletion.
    pub(crate) fn taken(&self, object: &(ResourceType, ObjectKey), uid: &str) -> Option<bool> {
        self.taken.get(object).filter(|(of, _)| of == uid).map(|(_, is_kept)| *is_kept)
    }

    /// The end of all objects of that node has been seen, or nothing waits for it any more.
    pub(crate) fn forget(&mut self, node: &str) {
        self.deleted.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;

    #[test]
    fn a_deletion_is_taken_once_and_known_as_long_as_the_object_seems_to_be_there() {
        let mut leaving = Leaving::default();
        let map = |name| (ResourceType::of::<ConfigMap>(), ObjectKey::namespaced("shop", name));
        let none = BTreeSet::new();
        leaving.take(map("a"), ("1", false), &none);
        leaving.take(map("b"), ("2", true), &none);
        assert_eq!((leaving.taken(&map("a"), "1"), leaving.taken(&map("b"), "2")), (Some(false), Some(true)));
        assert_eq!(leaving.taken(&map("a"), "3"), None, "another object with its name");
        leaving.take((ResourceType::of::<Secret>(), map("a").1), ("4", false), &[map("a").1].into());
        assert_eq!(leaving.all_taken(&map("a").0).len(), 2, "a Secret is another object");
        leaving.take(map("c"), ("5", false), &[map("a").1].into());
        assert_eq!((leaving.taken(&map("a"), "1"), leaving.taken(&map("b"), "2")), (None, Some(true)));
    }

    #[test]
    fn what_goes_is_known_until_it_is_forgotten() {
        let mut leaving = Leaving::default();
        let (maps, secrets) = (ResourceType::of::<ConfigMap>(), ResourceType::of::<Secret>());
        for node in ["web", "web", "data"] {
            leaving.note(node, (maps.clone(), ObjectKey::namespaced("shop", node)), "uid".to_owned());
        }
        assert_eq!(leaving.of("web", &maps).len(), 1, "it is the same object");
        assert!(leaving.of("other", &maps).is_empty() && leaving.of("web", &secrets).is_empty());
        leaving.forget("web");
        assert!(leaving.of("web", &maps).is_empty());
        assert_eq!(leaving.of("data", &maps).len(), 1);
    }
}
