//! The two traits that users implement.

use std::{error::Error as StdError, future::Future, sync::Arc};

use crate::resource::KubeObject;

use super::{BoxError, Context, DeleteControl, ErrorStatusUpdateControl, UpdateControl};

/// Brings the world into the state that a primary asks for. JOSDK: `Reconciler`.
///
/// A run looks at the whole state, not at what has changed: it may be the first one after the operator's start, and any
/// number of changes may have fallen together into it.
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::{Context, Reconciler, UpdateControl};
///
/// struct Announce;
///
/// impl Reconciler for Announce {
///     type Primary = ConfigMap;
///     type Error = std::io::Error;
///
///     async fn reconcile(
///         &self,
///         map: Arc<ConfigMap>,
///         _context: &Context<ConfigMap>,
///     ) -> Result<UpdateControl<ConfigMap>, Self::Error> {
///         tracing::info!(keys = map.data.as_ref().map_or(0, |data| data.len()), "seen");
///         Ok(UpdateControl::no_update())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reconciler",
    note = "implement `operator_core::Reconciler` for it, with its primary as `type Primary`"
)]
pub trait Reconciler: Send + Sync + 'static {
    /// The type of object that this reconciler is responsible for.
    type Primary: KubeObject;

    /// What can go wrong. Anything that converts into a boxed error: a `thiserror` enum, `anyhow::Error`, or a box.
    type Error: Into<BoxError> + Send + Sync + 'static;

    /// Called after the primary, or something it depends on, has changed, and after the delays that runs ask for.
    ///
    /// `primary` is the newest state that is known when the run starts, the operator's own writes included.
    ///
    /// # Errors
    /// An error is retried with growing delays (see `GenericRetry`), unless [`Reconciler::is_retryable`] says no.
    fn reconcile(
        &self,
        primary: Arc<Self::Primary>,
        context: &Context<Self::Primary>,
    ) -> impl Future<Output = Result<UpdateControl<Self::Primary>, Self::Error>> + Send;

    /// Called when [`Reconciler::reconcile`], or the patch it asked for, has failed; says what to write about it into
    /// the status. It is not called for failures of `cleanup`. JOSDK: `updateErrorStatus`.
    ///
    /// `error` is the user's own error; where the framework's patch failed it is that error.
    fn update_error_status(
        &self,
        primary: Arc<Self::Primary>,
        context: &Context<Self::Primary>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> impl Future<Output = ErrorStatusUpdateControl<Self::Primary>> + Send {
        let _ = (primary, context, error);
        async { ErrorStatusUpdateControl::default_processing() }
    }

    /// Whether trying again can help. A run that must not be retried goes to the error status and then waits for the
    /// next event or the maximum interval. An error that says so itself, by [`Permanent`](crate::Permanent), isn't retried whatever
    /// this answers.
    fn is_retryable(&self, error: &Self::Error) -> bool {
        let _ = error;
        true
    }
}

/// Undoes what a reconciler has done, before its primary goes. JOSDK: `Cleaner`.
///
/// A controller with a cleaner puts a finalizer on each primary, which keeps it in the cluster until `cleanup` agrees
/// to its removal. Say so with `.with_cleaner()` when the controller is built. Children with an owner reference need no
/// cleaner: the cluster's garbage collector removes them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no clean-up",
    note = "implement `operator_core::Cleaner` for it, or leave out `.with_cleaner()`"
)]
pub trait Cleaner: Reconciler {
    /// Called once the primary is marked for deletion, and again until it agrees to the finalizer's removal.
    ///
    /// # Errors
    /// An error is retried like one of `reconcile`; the finalizer stays.
    fn cleanup(
        &self,
        primary: Arc<Self::Primary>,
        context: &Context<Self::Primary>,
    ) -> impl Future<Output = Result<DeleteControl, Self::Error>> + Send;
}
