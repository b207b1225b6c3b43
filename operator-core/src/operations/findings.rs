//! What the writes of a run have found out about its primary. Kept separately from their errors, because user code may
//! wrap an error, return another one instead, or none.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Error;
use crate::{environment::Now, resource::ObjectKey};

/// The findings of one run. Its writes add to them; they are read when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    gone: AtomicBool,
    going: AtomicBool,
    namespace_ends: AtomicBool,
    not_before: Mutex<Option<Now>>,
}

impl Findings {
    /// Takes from a write's error what it says about the run's `primary`.
    pub(super) fn take(&self, error: &Error, primary: &ObjectKey, now: Now) {
        if let Some(asked) = error.retry_after() {
            let mut not_before = self.not_before.lock();
            *not_before = (*not_before).max(Some(now + asked));
        }
        if let Error::NamespaceTerminating { key, .. } = error
            && key.namespace() == primary.namespace()
        {
            self.namespace_ends.store(true, Ordering::Relaxed);
        }
    }

    /// The primary was found gone or replaced.
    pub(crate) fn note_gone(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Whether the primary is gone or replaced.
    pub(crate) fn primary_is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// The primary was found to be in deletion, which its run didn't know.
    pub(super) fn note_going(&self) {
        self.going.store(true, Ordering::Relaxed);
    }

    /// Whether the primary is being deleted, which its run didn't know.
    pub(crate) fn primary_is_going(&self) -> bool {
        self.going.load(Ordering::Relaxed)
    }

    /// Whether the primary's own namespace is being terminated, so that the primary is about to be removed as well.
    pub(crate) fn namespace_ends(&self) -> bool {
        self.namespace_ends.load(Ordering::Relaxed)
    }

    /// When the server is ready for another request, if it has refused a write for now.
    pub(crate) fn not_before(&self) -> Option<Now> {
        *self.not_before.lock()
    }
}
