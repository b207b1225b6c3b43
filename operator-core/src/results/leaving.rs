//! Objects that dependents have deleted and that aren't gone yet: an event source that shows only marked objects doesn't
//! see the end of one whose label is removed in the meantime. And objects that a node leaves to another one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::resource::ObjectKey;

/// Those of a primary.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    /// Those that are being deleted, with their uids, by node.
    deleted: BTreeMap<Arc<str>, BTreeMap<ObjectKey, String>>,
    /// Those that a node leaves to another one.
    given_up: BTreeSet<(String, ObjectKey)>,
}

impl Leaving {
    /// Records that an object of that node is being deleted.
    pub(crate) fn note(&mut self, node: &str, object: ObjectKey, uid: String) {
        self.deleted.entry(Arc::from(node)).or_default().insert(object, uid);
    }

    /// The objects of that node that are being deleted, as far as their end has not been seen.
    pub(crate) fn of(&self, node: &str) -> BTreeMap<ObjectKey, String> {
        self.deleted.get(node).cloned().unwrap_or_default()
    }

    /// Records that an object that this node has made is wanted by another one, and no longer by this one.
    pub(crate) fn give_up(&mut self, node: &str, object: ObjectKey) {
        self.given_up.insert((node.to_owned(), object));
    }

    /// Whether that was so when it was last known.
    pub(crate) fn has_given_up(&self, node: &str, object: &ObjectKey) -> bool {
        self.given_up.iter().any(|(by, given_up)| by == node && given_up == object)
    }

    /// The end of all objects of that node has been seen, or nothing waits for it any more.
    pub(crate) fn forget(&mut self, node: &str) {
        self.deleted.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_known_until_it_is_forgotten() {
        let mut leaving = Leaving::default();
        for node in ["web", "web", "data"] {
            leaving.note(node, ObjectKey::namespaced("shop", node), "uid".to_owned());
        }
        assert_eq!(leaving.of("web").len(), 1, "it is the same object");
        assert!(leaving.of("other").is_empty());
        leaving.forget("web");
        assert!(leaving.of("web").is_empty());
        assert_eq!(leaving.of("data").len(), 1);
    }
}
