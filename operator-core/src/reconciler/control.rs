//! What a run answers: what to write to the primary, and when to come back.

use std::{marker::PhantomData, time::Duration};

use kube::core::object::HasStatus;
use serde::Serialize;
use serde_json::Value;

use crate::resource::KubeObject;

/// A status on its way to the API server: serialized when it is given; what went wrong then becomes the run's error.
pub(crate) type SerializedStatus = Result<Value, serde_json::Error>;

/// The `status` part of a whole object.
fn status_of(object: &impl Serialize) -> SerializedStatus {
    serde_json::to_value(object).map(|mut object| object["status"].take())
}

/// The answer of a reconcile. JOSDK: `UpdateControl`.
///
/// Patches are server-side applies by the controller's field manager: give the fields that the controller is
/// responsible for. Nothing is sent where nothing differs.
#[derive(Debug)]
#[must_use = "nothing is written unless the control is returned from `reconcile`"]
pub struct UpdateControl<P> {
    /// The object to write, without its status.
    pub(crate) resource: Option<Box<P>>,
    /// The status to write, after the object.
    pub(crate) status: Option<SerializedStatus>,
    pub(crate) reschedule: Option<Duration>,
}

impl<P: KubeObject> UpdateControl<P> {
    /// Leaves the primary as it is.
    pub fn no_update() -> Self {
        Self::with(None, None)
    }

    /// Writes the status.
    pub fn patch_status(status: P::Status) -> Self
    where
        P: HasStatus<Status: Serialize>,
    {
        Self::with(None, Some(serde_json::to_value(&status)))
    }

    /// Writes the status of `primary`: for kinds without kube's `HasStatus`, such as those of `k8s-openapi`.
    pub fn patch_status_of(primary: &P) -> Self {
        Self::with(None, Some(status_of(primary)))
    }

    /// Writes the object, but not its status.
    pub fn patch_resource(primary: P) -> Self {
        Self::with(Some(primary), None)
    }

    /// Writes the object, then its status.
    pub fn patch_resource_and_status(primary: P) -> Self {
        let status = status_of(&primary);
        Self::with(Some(primary), Some(status))
    }

    fn with(resource: Option<P>, status: Option<SerializedStatus>) -> Self {
        Self { resource: resource.map(Box::new), status, reschedule: None }
    }

    /// Asks for a further run after `delay`, unless an event causes one before. Replaces the maximum interval for this
    /// once.
    pub fn reschedule_after(mut self, delay: Duration) -> Self {
        self.reschedule = Some(delay);
        self
    }

    /// Asks for a further run at once.
    pub fn reschedule(self) -> Self {
        self.reschedule_after(Duration::ZERO)
    }
}

/// The answer of a cleanup. JOSDK: `DeleteControl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the finalizer stays unless the control is returned from `cleanup`"]
pub enum DeleteControl {
    /// All is undone: the finalizer may go. It stays all the same while a workflow that was cleaned up in this run has something
    /// left that has to go before the primary, unless that failed and the workflow's errors are the reconciler's to handle.
    RemoveFinalizer,
    /// Something is still to be undone: the finalizer stays, and `cleanup` is called again upon the next event, or
    /// after the delay if there is one.
    KeepFinalizer {
        /// When to try again.
        reschedule_after: Option<Duration>,
    },
}

impl DeleteControl {
    /// All is undone: the finalizer may go. JOSDK: `defaultDelete`.
    pub const fn default_delete() -> Self {
        Self::RemoveFinalizer
    }

    /// The finalizer stays until an event causes another clean-up. JOSDK: `noFinalizerRemoval`.
    pub const fn no_finalizer_removal() -> Self {
        Self::KeepFinalizer { reschedule_after: None }
    }

    /// The finalizer stays, and the clean-up is called again after `delay`.
    pub const fn no_finalizer_removal_before(delay: Duration) -> Self {
        Self::KeepFinalizer { reschedule_after: Some(delay) }
    }
}

/// What to write into the status after a failure, and whether to try again.
/// JOSDK: `ErrorStatusUpdateControl`.
#[derive(Debug)]
#[must_use = "nothing is written unless the control is returned from `update_error_status`"]
pub struct ErrorStatusUpdateControl<P> {
    pub(crate) status: ErrorStatus,
    pub(crate) no_retry: bool,
    pub(crate) reschedule: Option<Duration>,
    primary: PhantomData<fn(P)>,
}

#[derive(Debug)]
pub(crate) enum ErrorStatus {
    /// The error is not handled: it is logged as a failure and retried.
    DefaultProcessing,
    /// The error is handled; the status stays.
    NoUpdate,
    /// The error is handled; the status says so.
    Patch(SerializedStatus),
}

impl<P: KubeObject> ErrorStatusUpdateControl<P> {
    /// Writes nothing, and treats the error as one that nobody has handled.
    pub fn default_processing() -> Self {
        Self::with(ErrorStatus::DefaultProcessing)
    }

    /// Writes nothing; the error counts as handled and is retried without noise in the log.
    pub fn no_status_update() -> Self {
        Self::with(ErrorStatus::NoUpdate)
    }

    /// Writes the status; the error counts as handled. A failure of this write is only logged.
    pub fn patch_status(status: P::Status) -> Self
    where
        P: HasStatus<Status: Serialize>,
    {
        Self::with(ErrorStatus::Patch(serde_json::to_value(&status)))
    }

    /// Writes the status of `primary`: for kinds without kube's `HasStatus`.
    pub fn patch_status_of(primary: &P) -> Self {
        Self::with(ErrorStatus::Patch(status_of(primary)))
    }

    fn with(status: ErrorStatus) -> Self {
        Self { status, no_retry: false, reschedule: None, primary: PhantomData }
    }

    /// Ends the retries: the run counts as a success. It is a handled error, so `default_processing` becomes
    /// `no_status_update`.
    pub fn with_no_retry(mut self) -> Self {
        self.no_retry = true;
        self
    }

    /// Ends the retries and asks for a further run after `delay`.
    pub fn reschedule_after(mut self, delay: Duration) -> Self {
        self.no_retry = true;
        self.reschedule = Some(delay);
        self
    }
}
