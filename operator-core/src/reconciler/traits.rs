//! The two traits that users implement.

use std::future::Future;

use crate::resource::KubeObject;

use super::{BoxError, Context, Removal, UpdateControl};

/// Brings the world to the state that a primary describes. JOSDK: `Reconciler`.
///
/// A run looks at the whole state, not at what has changed: it may be the first one after the operator's start, and it
/// may cover any number of changes.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::prelude::*;
///
/// struct Announce;
///
/// impl Reconciler for Announce {
///     type Primary = ConfigMap;
///
///     async fn reconcile(
///         &self,
///         map: &ConfigMap,
///         _cx: &mut Context<ConfigMap>,
///     ) -> Result<UpdateControl<ConfigMap>> {
///         println!("{} keys", map.data.as_ref().map_or(0, |data| data.len()));
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

    /// Called after the primary, or something it depends on, has changed, and after the delays that runs request.
    ///
    /// `primary` is the newest state that is known when the run starts, including the operator's own writes.
    ///
    /// # Errors
    /// Any error: `?` turns it into a [`BoxError`]. It is retried with growing delays (see
    /// [`GenericRetry`](crate::GenericRetry)), unless it is [`Permanent`](crate::Permanent). Errors of the server are
    /// recognised anywhere in the chain of causes, and use up no attempt. An `anyhow::Error` hides the outermost of its
    /// errors from this; box it with its `reallocate_into_boxed_dyn_error_without_backtrace`.
    fn reconcile(
        &self,
        primary: &Self::Primary,
        cx: &mut Context<Self::Primary>,
    ) -> impl Future<Output = Result<UpdateControl<Self::Primary>, BoxError>> + Send;
}

/// Undoes what a reconciler has done, before its primary is removed. JOSDK: `Cleaner`.
///
/// A controller with a cleaner adds a finalizer to each primary, which keeps it in the cluster until `cleanup` agrees
/// to its removal. Declare it with `.with_cleaner()` when the controller is built; a derived controller finds it
/// automatically. Children with an owner reference need no cleaner: the cluster's garbage collector removes them.
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
        primary: &Self::Primary,
        cx: &mut Context<Self::Primary>,
    ) -> impl Future<Output = Result<Removal, BoxError>> + Send;
}
