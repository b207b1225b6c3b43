//! Primaries for which the cache may not know what the operator itself has done, or what has happened to them.

use std::collections::HashSet;

use parking_lot::Mutex;

use crate::resource::ObjectKey;

/// The primaries whose next run starts by reading the live object, because a write to them is unconfirmed, or because a
/// list has shown them in an older state than had been seen.
///
/// A write without an answer may have taken effect. Until its event arrives, the cache shows a state without it, and a
/// run that finds the desired state there writes nothing. If the event arrives later and only the status has changed,
/// it triggers no primary: the unwanted state would stay.
///
/// # Guarantees
/// - A primary is kept until a run has looked at it, or it is gone.
/// - What isn't known is not kept: the source takes a primary out again when it doesn't know the object.
#[derive(Debug, Default)]
pub(super) struct UnconfirmedWrites(Mutex<HashSet<ObjectKey>>);

impl UnconfirmedWrites {
    pub(super) fn note(&self, primary: &ObjectKey) {
        self.0.lock().insert(primary.clone());
    }

    pub(super) fn clear(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }

    pub(super) fn contains(&self, primary: &ObjectKey) -> bool {
        self.0.lock().contains(primary)
    }

    /// How many are about primaries that are not there.
    pub(super) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.0.lock().iter().filter(|primary| !exists(primary)).count()
    }
}
