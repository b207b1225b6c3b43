//! Why a run failed, and what follows.

use std::{any::Any, sync::Arc, time::Duration};

use crate::{
    operations,
    processor::FailureKind,
    reconciler::{AnotherType, BoxError},
    results::{
        WorkflowError,
        failure_kind::{kind_of_returned, of_operation},
        panic_text,
    },
};

/// Why a run failed, and what follows from that.
pub(crate) struct RunFailure {
    pub(super) error: Arc<BoxError>,
    pub(super) kind: FailureKind,
    pub(super) panicked: bool,
}

impl RunFailure {
    fn new(error: impl Into<BoxError>, kind: FailureKind) -> Self {
        Self { error: Arc::new(error.into()), kind, panicked: false }
    }

    /// `reconcile` or `cleanup` returned an error.
    pub(super) fn of_user(error: BoxError) -> Self {
        let kind = kind_of_returned(&*error).unwrap_or(FailureKind::Retryable);
        Self::new(error, kind)
    }

    /// The reconciler was called for a primary of a type other than its own.
    pub(super) fn of_type(error: AnotherType) -> Self {
        Self::new(error, FailureKind::Permanent)
    }

    /// Dependents failed.
    pub(super) fn of_workflow(error: WorkflowError) -> Self {
        let (kind, panicked) = (error.failure_kind(), error.is_panic());
        Self { panicked, ..Self::new(error, kind) }
    }

    /// A request that the framework itself made for the primary failed: a patch that `reconcile` returned, a write of a
    /// finalizer, or a read of the live object.
    pub(super) fn of_write(error: operations::Error) -> Self {
        let kind = of_operation(&error);
        Self::new(error, kind)
    }

    /// User code panicked. Another attempt may find another state, so it is retried.
    pub(super) fn of_panic(code: &'static str, payload: &(dyn Any + Send)) -> Self {
        let error = Panicked { code, words: panic_text(payload).to_owned() };
        Self { panicked: true, ..Self::new(error, FailureKind::Retryable) }
    }

    /// The run took longer than its controller allows.
    pub(super) fn of_timeout(limit: Duration) -> Self {
        Self::new(TimedOut(limit), FailureKind::Retryable)
    }

    /// Whether the run was dropped at its deadline.
    pub(super) fn timed_out(&self) -> bool {
        self.error.is::<TimedOut>()
    }

    /// Whether another writer's write came in between.
    pub(super) fn is_conflict(&self) -> bool {
        self.error.downcast_ref::<operations::Error>().is_some_and(operations::Error::is_conflict)
    }
}

/// The run was dropped at its deadline.
#[derive(Debug, thiserror::Error)]
#[error(
    "the run was dropped after {0:?}, its controller's `reconcile_timeout`; its requests in progress may still take effect"
)]
struct TimedOut(Duration);

/// User code panicked.
#[derive(Debug, thiserror::Error)]
#[error("the {code} panicked: {words}")]
struct Panicked {
    code: &'static str,
    words: String,
}
