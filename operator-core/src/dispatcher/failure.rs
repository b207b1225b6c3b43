//! Why a run failed.

use std::{any::Any, error::Error as StdError, fmt, sync::Arc, time::Duration};

use crate::{
    operations,
    reconciler::{
        BoxError,
        workflow::{WorkflowError, panic_text},
    },
};

/// A failed run.
pub(super) struct Failure<P> {
    pub(super) error: BoxError,
    pub(super) retryable: bool,
    pub(super) panicked: bool,
    /// The primary whose reconcile failed; `None` where user code is not asked for an error status.
    pub(super) reconciled: Option<Arc<P>>,
}

impl<P> Failure<P> {
    /// `reconcile` returned an error.
    pub(super) fn of_reconcile(primary: Arc<P>, error: BoxError, retryable: bool) -> Self {
        Self { error, retryable, panicked: false, reconciled: Some(primary) }
    }

    /// Dependents failed.
    pub(super) fn of_workflow(reconciled: Option<Arc<P>>, error: WorkflowError) -> Self {
        let (retryable, panicked) = (error.is_retryable(), error.is_panic());
        Self { error: error.into(), retryable, panicked, reconciled }
    }

    /// A patch that `reconcile` asked for failed.
    pub(super) fn of_patch(primary: Arc<P>, error: operations::Error) -> Self {
        let retryable = error.is_retryable();
        Self { error: error.into(), retryable, panicked: false, reconciled: Some(primary) }
    }

    /// `cleanup` returned an error.
    pub(super) fn of_cleanup(error: BoxError, retryable: bool) -> Self {
        Self { error, retryable, panicked: false, reconciled: None }
    }

    /// Something of the framework's own failed outside user code: a finalizer.
    pub(super) fn before_user_code(error: operations::Error) -> Self {
        let retryable = error.is_retryable();
        Self { error: error.into(), retryable, panicked: false, reconciled: None }
    }

    /// User code panicked. A further attempt may find another state, so it is retried.
    pub(super) fn of_panic(reconciled: Option<Arc<P>>, payload: &(dyn Any + Send)) -> Self {
        let error = Panicked(panic_text(payload).to_owned()).into();
        Self { error, retryable: true, panicked: true, reconciled }
    }

    /// The run took longer than its controller allows.
    pub(super) fn of_timeout(reconciled: Option<Arc<P>>, limit: Duration) -> Self {
        Self { error: TimedOut(limit).into(), retryable: true, panicked: false, reconciled }
    }

    /// Whether somebody else's write came in between.
    pub(super) fn is_conflict(&self) -> bool {
        self.error.downcast_ref::<operations::Error>().is_some_and(operations::Error::is_conflict)
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
