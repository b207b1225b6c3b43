//! The last state of an object that is gone.

use std::sync::Arc;

use super::AnyObject;

/// The last known state of a deleted object, for runs that have to see the deletion.
#[derive(Clone)]
pub struct Departed {
    /// Its last known state.
    pub(crate) last: AnyObject,
    /// Whether the deletion itself was missed: the object may have changed after this state.
    pub(crate) final_state_unknown: bool,
}

// Without the object, which may be a Secret.
debug_of!(Departed: "Departed", |it| final_state_unknown: it.final_state_unknown);

/// Each deletion is seen once, so the same object means the same deletion.
impl PartialEq for Departed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.last, &other.last)
    }
}

impl Eq for Departed {}
