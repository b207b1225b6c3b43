//! What user code returns: what to write to the primary, when to run again, and whether a primary may be deleted.

use std::time::Duration;

use crate::resource::KubeObject;

/// The result of a reconcile. JOSDK: `UpdateControl`.
///
/// It doesn't include the status: the function given to [`status`](crate::ControllerBuilder::status) makes it at the
/// end of each run.
#[derive(Debug)]
#[must_use = "nothing is written unless the control is returned from `reconcile`"]
pub struct UpdateControl<P> {
    /// The object to write, without its status.
    pub(crate) resource: Option<Box<P>>,
    pub(crate) reschedule: Option<Duration>,
}

impl<P: KubeObject> UpdateControl<P> {
    /// Leaves the primary as it is.
    pub fn no_update() -> Self {
        Self { resource: None, reschedule: None }
    }

    /// Writes the object, but not its status: by a server-side apply under the controller's field manager, so include
    /// the fields that the controller is responsible for. Nothing is sent if nothing differs.
    pub fn patch_resource(primary: P) -> Self {
        Self { resource: Some(Box::new(primary)), reschedule: None }
    }

    /// Requests another run after `delay`, unless an event causes one before. Replaces the maximum interval this one
    /// time.
    pub fn reschedule_after(mut self, delay: Duration) -> Self {
        self.reschedule = Some(delay);
        self
    }

    /// Requests another run at once.
    pub fn reschedule(self) -> Self {
        self.reschedule_after(Duration::ZERO)
    }
}

/// The result of a clean-up: whether the primary may be removed. JOSDK: `DeleteControl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the finalizer stays unless the answer is returned from `cleanup`"]
pub enum Removal {
    /// Everything is undone: the finalizer may be removed. It still stays while a workflow that was cleaned up in this
    /// run has something left that has to be deleted before the primary, unless that failed and the reconciler handles
    /// the workflow's errors.
    Done,
    /// Something still has to be undone: the finalizer stays, and `cleanup` is called again at the next event, or after
    /// the delay if there is one.
    Keep {
        /// When to try again.
        again_in: Option<Duration>,
    },
}

impl Removal {
    /// The finalizer stays until an event causes another clean-up. JOSDK: `noFinalizerRemoval`.
    pub const fn keep() -> Self {
        Self::Keep { again_in: None }
    }

    /// The finalizer stays, and the clean-up is called again after `delay`, unless an event causes one before.
    pub const fn again_in(delay: Duration) -> Self {
        Self::Keep { again_in: Some(delay) }
    }
}
