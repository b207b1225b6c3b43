//! The last state of an object that is gone.

use std::{fmt, sync::Arc};

use super::AnyObject;

/// What is known of an object that is gone, for those who have to see its end.
#[derive(Clone)]
pub struct Departed {
    /// Its last known state.
    pub(crate) last: AnyObject,
    /// Whether the deletion itself was missed, so that it may have changed after that.
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

/// Each is seen once, so the same object is the same end.
impl PartialEq for Departed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.last, &other.last)
    }
}

impl Eq for Departed {}
