//! Which creates may have happened although nobody said so.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;

use crate::resource::ObjectKey;

/// The primaries for which a create was begun and not answered well. Nearly always empty.
#[derive(Debug, Default)]
pub(super) struct Unanswered(Arc<Mutex<BTreeSet<ObjectKey>>>);

impl Unanswered {
    /// Notes a create before it is sent, so that a run which is dropped while it waits leaves the note behind.
    pub(super) fn begin(&self, primary: &ObjectKey) {
        self.0.lock().insert(primary.clone());
    }

    /// The create was answered, or its resource was looked for and is known by now.
    pub(super) fn settled(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }

    /// Whether a create of this primary is in doubt. Primaries that are gone are forgotten on the way.
    pub(super) fn in_doubt(&self, primary: &ObjectKey, exists: impl Fn(&ObjectKey) -> bool) -> bool {
        let mut keys = self.0.lock();
        keys.retain(|key| exists(key));
        keys.contains(primary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_create_is_in_doubt_until_it_is_answered_or_its_primary_goes() {
        let (a, b) = (ObjectKey::namespaced("shop", "a"), ObjectKey::namespaced("shop", "b"));
        let unanswered = Unanswered::default();
        assert!(!unanswered.in_doubt(&a, |_| true));
        unanswered.begin(&a);
        unanswered.begin(&b);
        assert!(unanswered.in_doubt(&a, |_| true));
        unanswered.settled(&a);
        assert!(!unanswered.in_doubt(&a, |_| true));
        assert!(!unanswered.in_doubt(&a, |key| *key != b));
        assert!(!unanswered.in_doubt(&b, |_| true), "what is gone is forgotten");
    }
}
