//! The last state of an object that is gone.

use std::{fmt, sync::Arc};

use super::AnyObject;

/// The last known state of a deleted object, for runs that have to see the deletion.
#[derive(Clone)]
pub struct Departed {
    /// Its last known state.
    pub(crate) last: AnyObject,
    /// Whether the deletion itself was missed: the object may have changed after this state.
    pub(crate) final_state_unknown: bool,
}

/// Without the object, which may be a Secret.
impl fmt::Debug for Departed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departed")
            .field("final_state_unknown", &self.final_state_unknown)
            .finish_non_exhaustive()
    }
}

/// Each deletion is seen once, so the same object means the same deletion.
impl PartialEq for Departed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.last, &other.last)
    }
}

impl Eq for Departed {}
