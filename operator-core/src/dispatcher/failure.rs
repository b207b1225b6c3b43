//! Why a run failed, and what follows.

use std::{any::Any, error::Error as StdError, fmt, time::Duration};

use crate::{
    operations,
    processor::FailureKind,
    reconciler::{
        AnotherType, BoxError,
        failure_kind::{kind_of_returned, of_operation},
        workflow::{WorkflowError, panic_text},
    },
    resource::AnyObject,
};

/// Why a run failed, and what follows from that.
pub(crate) struct Failure {
    pub(super) error: BoxError,
    pub(super) kind: FailureKind,
    pub(super) panicked: bool,
}

impl Failure {
    /// `reconcile` or `cleanup` returned an error, of which the user says whether trying again can help.
    pub(super) fn of_user<E: Into<BoxError> + 'static>(error: E, retryable: bool) -> Self {
        let (error, kind) = kind_of_returned(error);
        let kind = if retryable { kind.unwrap_or(FailureKind::Retryable) } else { FailureKind::Permanent };
        Self { error, kind, panicked: false }
    }

    /// The reconciler is asked about a primary of another type than its own.
    pub(super) fn of_type(error: AnotherType) -> Self {
        Self::of_user(error, false)
    }

    /// Dependents failed.
    pub(super) fn of_workflow(error: WorkflowError) -> Self {
        let (kind, panicked) = (error.failure_kind(), error.is_panic());
        Self { error: error.into(), kind, panicked }
    }

    /// A request that the framework itself made for the primary failed: a patch that `reconcile` asked for, a
    /// finalizer's write, or a look at the live object.
    pub(super) fn of_write(error: operations::Error) -> Self {
        let kind = of_operation(&error);
        Self { error: error.into(), kind, panicked: false }
    }

    /// User code panicked. A further attempt may find another state, so it is retried.
    pub(super) fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let error = Panicked(panic_text(payload).to_owned()).into();
        Self { error, kind: FailureKind::Retryable, panicked: true }
    }

    /// The run took longer than its controller allows.
    pub(super) fn of_timeout(limit: Duration) -> Self {
        Self { error: TimedOut(limit).into(), kind: FailureKind::Retryable, panicked: false }
    }

    /// Whether somebody else's write came in between.
    pub(super) fn is_conflict(&self) -> bool {
        self.error.downcast_ref::<operations::Error>().is_some_and(operations::Error::is_conflict)
    }
}

/// What follows a failure, as its error status says.
pub(super) enum After {
    /// The run is retried. Whether the failure counts as handled decides how loudly it is told.
    Retry { handled: bool },
    /// The run counts as a success, because the user has handled the failure; the next run is at the time that it asks
    /// for.
    Done { reschedule: Option<Duration> },
}

/// A run that failed.
pub(super) struct Failed {
    pub(super) failure: Failure,
    /// The primary whose reconcile failed; `None` where user code is not asked for an error status.
    pub(super) reconciled: Option<AnyObject>,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { failure, reconciled: None }
    }
}

/// The run was dropped at its deadline.
#[derive(Debug)]
struct TimedOut(Duration);

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the run was dropped after {:?}, its controller's `reconcile_timeout`; what it had in flight may still take effect",
            self.0
        )
    }
}

impl StdError for TimedOut {}

/// User code panicked.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reconciler panicked: {}", self.0)
    }
}

impl StdError for Panicked {}
