//! The return values of user code: what to write to the primary, when to run again, and whether a primary may be deleted.

use std::time::Duration;

use serde_json::Value;

use crate::resource::KubeObject;

/// The result of a reconcile. JOSDK: `UpdateControl`.
///
/// It doesn't include the status: the function given to [`status`](crate::ControllerBuilder::status) makes it at the
/// end of each run.
#[derive(Debug)]
#[must_use = "nothing is written unless the control is returned from `reconcile`"]
pub struct UpdateControl<P> {
    /// The part of the object to write, without its status.
    pub(crate) resource: Option<Patch<P>>,
    pub(crate) reschedule: Option<Duration>,
}

/// The part of an object that is written.
#[derive(Debug)]
pub(crate) enum Patch<P> {
    /// All of it.
    Whole(Box<P>),
    /// The named fields.
    Part(Value),
}

impl<P: KubeObject> UpdateControl<P> {
    /// Leaves the primary as it is.
    pub fn no_update() -> Self {
        Self { resource: None, reschedule: None }
    }

    /// Writes the object, but not its status: by a server-side apply under the controller's field manager, so include
    /// the fields that the controller is responsible for. Nothing is sent if nothing differs.
    pub fn patch_resource(primary: P) -> Self {
        Self { resource: Some(Patch::Whole(Box::new(primary))), reschedule: None }
    }

    /// Writes just the fields that `part` names, by a server-side apply: the controller's field manager then owns these and
    /// no others, even those that the type requires. Fields that an earlier apply of it named and this one doesn't are
    /// removed, unless another manager owns them as well. The controller's finalizer is kept. Nothing is sent if nothing differs.
    ///
    /// `part` needs the primary's `metadata.name`; its type, its namespace and its uid are filled in. It is an apply
    /// whatever [`use_ssa_to_patch_primary`](crate::ControllerBuilder::use_ssa_to_patch_primary) says.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use operator_core::UpdateControl;
    /// use serde_json::json;
    ///
    /// # fn control(map: &ConfigMap) -> UpdateControl<ConfigMap> {
    /// UpdateControl::apply(json!({
    ///     "metadata": { "name": map.metadata.name, "annotations": { "example.com/seen": "yes" } },
    /// }))
    /// # }
    /// ```
    ///
    /// The run fails, and isn't retried, if `part` has no name or that of another object, or has a status, which only
    /// the status function sets. JOSDK has no counterpart: there a reconciler builds an object with the wanted fields.
    pub fn apply(part: Value) -> Self {
        Self { resource: Some(Patch::Part(part)), reschedule: None }
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
#[must_use = "the finalizer stays unless this is returned from `cleanup`"]
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
