//! The user's code as the dispatcher calls it, whatever the type of the primaries: the thin part that is compiled for each
//! reconciler.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

use super::failure::Failure;
use crate::{
    error::BoxError,
    reconciler::{
        AnyContext, Context, DeleteControl, ErrorStatus, ErrorStatusUpdateControl, Reconciler,
        SerializedStatus, UpdateControl,
    },
    resource::AnyObject,
};

/// What a run asks of the user.
pub(crate) trait UserCode: Send + Sync {
    /// Calls `Reconciler::reconcile`.
    fn reconcile<'r>(
        &'r self,
        primary: &'r AnyObject,
        context: &'r Arc<AnyContext>,
    ) -> BoxFuture<'r, Result<Update, Failure>>;

    /// Calls `Cleaner::cleanup`, where there is one.
    fn cleanup<'r>(
        &'r self,
        primary: &'r AnyObject,
        context: &'r Arc<AnyContext>,
    ) -> BoxFuture<'r, Result<DeleteControl, Failure>>;

    /// Whether there is a `Cleaner`.
    fn cleans_up(&self) -> bool;

    /// Calls `Reconciler::update_error_status`.
    fn update_error_status<'r>(
        &'r self,
        primary: &'r AnyObject,
        context: &'r Arc<AnyContext>,
        error: &'r BoxError,
    ) -> BoxFuture<'r, ErrorUpdate>;
}

/// What `reconcile` asks for.
pub(crate) struct Update {
    pub(super) resource: Option<AnyObject>,
    pub(super) status: Option<SerializedStatus>,
    pub(super) reschedule: Option<Duration>,
}

/// What `update_error_status` asks for.
pub(crate) struct ErrorUpdate {
    pub(super) status: ErrorStatus,
    pub(super) no_retry: bool,
    pub(super) reschedule: Option<Duration>,
}

impl ErrorUpdate {
    /// What follows where the user says nothing.
    pub(super) fn default_processing() -> Self {
        Self { status: ErrorStatus::DefaultProcessing, no_retry: false, reschedule: None }
    }
}

/// Calls `Cleaner::cleanup` of a reconciler that has it.
pub(crate) type CleanupFn<R> = for<'c> fn(
    &'c R,
    Arc<<R as Reconciler>::Primary>,
    &'c Context<<R as Reconciler>::Primary>,
) -> BoxFuture<'c, Result<DeleteControl, <R as Reconciler>::Error>>;

/// A reconciler, and its clean-up if it has one.
pub(crate) struct Code<R: Reconciler> {
    pub(crate) reconciler: R,
    pub(crate) cleanup: Option<CleanupFn<R>>,
}

impl<R: Reconciler> Code<R> {
    fn failure(&self, error: R::Error) -> Failure {
        let retryable = self.reconciler.is_retryable(&error);
        Failure::of_user(error, retryable)
    }
}

impl<R: Reconciler> UserCode for Code<R> {
    fn reconcile<'r>(
        &'r self,
        primary: &'r AnyObject,
        context: &'r Arc<AnyContext>,
    ) -> BoxFuture<'r, Result<Update, Failure>> {
        // The call stands in the future, as a function written by hand may panic before it answers one.
        async move {
            let (primary, context) = Context::given(primary, context).map_err(Failure::of_type)?;
            let control = self.reconciler.reconcile(primary, &context).await;
            let UpdateControl { resource, status, reschedule } =
                control.map_err(|error| self.failure(error))?;
            Ok(Update {
                resource: resource.map(|resource| Arc::<R::Primary>::from(resource) as AnyObject),
                status,
                reschedule,
            })
        }
        .boxed()
    }

    fn cleanup<'r>(
        &'r self,
        primary: &'r AnyObject,
        context: &'r Arc<AnyContext>,
    ) -> BoxFuture<'r, Result<DeleteControl, Failure>> {
        async move {
            let Some(cleanup) = self.cleanup else { return Ok(DeleteControl::RemoveFinalizer) };
            let (primary, context) = Context::given(primary, context).map_err(Failure::of_type)?;
            let control = cleanup(&self.reconciler, primary, &context).await;
            control.map_err(|error| self.failure(error))
        }
        .boxed()
    }

    fn cleans_up(&self) -> bool {
        self.cleanup.is_some()
    }

    fn update_error_status<'r>(
        &'r self,
        primary: &'r AnyObject,
        context: &'r Arc<AnyContext>,
        error: &'r BoxError,
    ) -> BoxFuture<'r, ErrorUpdate> {
        async move {
            let Ok((primary, context)) = Context::given(primary, context) else {
                return ErrorUpdate::default_processing();
            };
            let control = self.reconciler.update_error_status(primary, &context, &**error).await;
            let ErrorStatusUpdateControl { status, no_retry, reschedule, .. } = control;
            ErrorUpdate { status, no_retry, reschedule }
        }
        .boxed()
    }
}
