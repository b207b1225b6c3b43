//! Objects that dependents have deleted and that aren't gone yet, by primary: an event source that shows only marked
//! objects doesn't see the end of one whose label is removed in the meantime.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use crate::{event_source::PrimaryFollower, resource::ObjectKey};

/// The objects that are being deleted, with their uids, by node.
type ByNode = BTreeMap<Arc<str>, BTreeMap<ObjectKey, String>>;

/// The objects that are being deleted, of all primaries of one controller; each is forgotten with its primary at the
/// latest.
#[derive(Debug, Default)]
pub(crate) struct Leaving(Mutex<BTreeMap<ObjectKey, ByNode>>);

impl Leaving {
    /// Records that an object of that node is being deleted. `exists` is called to check that the primary still exists:
    /// an entry that is added later would never be removed.
    pub(crate) fn note(
        &self,
        (primary, node): (&ObjectKey, &str),
        object: ObjectKey,
        uid: String,
        exists: impl FnOnce() -> bool,
    ) {
        let mut all = self.0.lock();
        if exists() {
            let nodes = all.entry(primary.clone()).or_default();
            nodes.entry(Arc::from(node)).or_default().insert(object, uid);
        }
    }

    /// The objects of that node that are being deleted, as far as their end has not been seen.
    pub(crate) fn of(&self, primary: &ObjectKey, node: &str) -> BTreeMap<ObjectKey, String> {
        self.0.lock().get(primary).and_then(|nodes| nodes.get(node)).cloned().unwrap_or_default()
    }

    /// The end of all objects of that node has been seen, or nothing waits for it any more.
    pub(crate) fn forget(&self, primary: &ObjectKey, node: &str) {
        let mut all = self.0.lock();
        if let Some(nodes) = all.get_mut(primary) {
            nodes.remove(node);
            if nodes.is_empty() {
                all.remove(primary);
            }
        }
    }

    /// The number of primaries that don't exist and have entries.
    pub(crate) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.0.lock().keys().filter(|primary| !exists(primary)).count()
    }
}

/// Removes the entries of a primary that is gone.
impl PrimaryFollower for Leaving {
    fn primary_gone(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_known_until_it_is_forgotten_or_its_primary_is_gone() {
        let (leaving, primary) = (Leaving::default(), ObjectKey::namespaced("shop", "one"));
        let note = |node: &str, exists: bool| {
            let object = ObjectKey::namespaced("shop", node);
            leaving.note((&primary, node), object, "uid".to_owned(), || exists);
        };
        note("web", true);
        note("web", true);
        note("data", true);
        assert_eq!(leaving.of(&primary, "web").len(), 1, "it is the same object");
        assert!(leaving.of(&primary, "other").is_empty());
        leaving.forget(&primary, "web");
        assert!(leaving.of(&primary, "web").is_empty());
        assert_eq!(leaving.leftovers(&|_| false), 1);
        leaving.primary_gone(&primary);
        assert_eq!(leaving.leftovers(&|_| false), 0);
        note("web", false);
        assert!(leaving.of(&primary, "web").is_empty(), "a run that outlives its primary leaves nothing");
    }
}
