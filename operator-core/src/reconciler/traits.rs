//! The two traits of which users implement one.

use std::future::Future;

use futures::{FutureExt, future::BoxFuture};

use crate::resource::KubeObject;

use super::{BoxError, Context, Removal, UpdateControl};

/// Brings the world to the state that a primary describes. JOSDK: `Reconciler`.
///
/// A run looks at the whole state, not at what has changed: it may be the first one after the operator's start, and it
/// may cover any number of changes. A reconciler with something to undo before its primary is removed implements
/// [`Cleaner`] instead.
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
    note = "implement `operator_core::Reconciler` for it, with its primary as `type Primary`, or `Cleaner`, which also cleans up"
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

    /// The clean-up of a [`Cleaner`]. Not for users.
    #[doc(hidden)]
    #[must_use]
    fn cleanup_fn() -> Option<CleanupFn<Self>>
    where
        Self: Sized,
    {
        None
    }
}

/// A reconciler that also undoes what it has done, before its primary is removed. JOSDK: `Cleaner`.
///
/// Implement it instead of [`Reconciler`]: a type is one or the other, so a clean-up can't be forgotten. Its controller
/// adds a finalizer to each primary, which keeps the primary in the cluster until `cleanup` agrees to its removal.
/// Children with an owner reference need no cleaner: the cluster's garbage collector removes them.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::prelude::*;
///
/// struct Registered;
///
/// impl Cleaner for Registered {
///     type Primary = ConfigMap;
///
///     async fn reconcile(&self, _: &ConfigMap, _: &mut Context<ConfigMap>) -> Result<UpdateControl<ConfigMap>> {
///         Ok(UpdateControl::no_update())
///     }
///
///     async fn cleanup(&self, _: &ConfigMap, _: &mut Context<ConfigMap>) -> Result<Removal> {
///         Ok(Removal::Done)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reconciler",
    note = "implement `operator_core::Reconciler` for it, with its primary as `type Primary`, or `Cleaner`, which also cleans up"
)]
pub trait Cleaner: Send + Sync + 'static {
    /// The type of object that this reconciler is responsible for.
    type Primary: KubeObject;

    /// The same as [`Reconciler::reconcile`].
    ///
    /// # Errors
    /// See [`Reconciler::reconcile`].
    fn reconcile(
        &self,
        primary: &Self::Primary,
        cx: &mut Context<Self::Primary>,
    ) -> impl Future<Output = Result<UpdateControl<Self::Primary>, BoxError>> + Send;

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

/// Calls [`Cleaner::cleanup`] of a reconciler that has it.
pub(crate) type CleanupFn<R> = for<'c> fn(
    &'c R,
    &'c <R as Reconciler>::Primary,
    &'c mut Context<<R as Reconciler>::Primary>,
) -> BoxFuture<'c, Result<Removal, BoxError>>;

#[diagnostic::do_not_recommend]
impl<C: Cleaner> Reconciler for C {
    type Primary = <C as Cleaner>::Primary;

    fn reconcile(
        &self,
        primary: &Self::Primary,
        cx: &mut Context<Self::Primary>,
    ) -> impl Future<Output = Result<UpdateControl<Self::Primary>, BoxError>> + Send {
        Cleaner::reconcile(self, primary, cx)
    }

    fn cleanup_fn() -> Option<CleanupFn<Self>> {
        Some(|reconciler, primary, context| reconciler.cleanup(primary, context).boxed())
    }
}
