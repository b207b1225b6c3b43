//! User code as the dispatcher calls it, without the type of the primaries: the thin part that is compiled for each
//! reconciler.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

use super::failure::RunFailure;
use crate::{
    reconciler::{AnyGiven, CleanupFn, Patch, Reconciler, Removal, UpdateControl},
    resource::AnyObject,
};

/// The user code that a run calls.
pub(crate) trait UserCode: Send + Sync {
    /// Calls `Reconciler::reconcile`.
    fn reconcile<'r>(&'r self, given: AnyGiven<'r>) -> BoxFuture<'r, Result<Update, RunFailure>>;

    /// Calls `Cleaner::cleanup`, if there is one.
    fn cleanup<'r>(&'r self, given: AnyGiven<'r>) -> BoxFuture<'r, Result<Removal, RunFailure>>;

    /// Whether there is a `Cleaner`.
    fn cleans_up(&self) -> bool;
}

/// What `reconcile` returned.
pub(crate) struct Update {
    pub(super) patch: Option<AnyPatch>,
    pub(super) reschedule: Option<Duration>,
}

/// The requested write of the primary.
pub(super) enum AnyPatch {
    Whole(AnyObject),
    Part(Value),
}

/// A reconciler, and its clean-up if it has one.
pub(crate) struct Code<R: Reconciler> {
    pub(crate) reconciler: R,
    pub(crate) cleanup: Option<CleanupFn<R>>,
}

impl<R: Reconciler> UserCode for Code<R> {
    fn reconcile<'r>(&'r self, given: AnyGiven<'r>) -> BoxFuture<'r, Result<Update, RunFailure>> {
        // The call is inside the future, because a function written by hand may panic before it returns one.
        async move {
            let (primary, mut context) = given.typed().map_err(RunFailure::of_type)?;
            let control = self.reconciler.reconcile(&primary, &mut context).await;
            let UpdateControl { resource, reschedule } = control.map_err(RunFailure::of_user)?;
            let patch = resource.map(|patch| match patch {
                Patch::Whole(resource) => AnyPatch::Whole(Arc::<R::Primary>::from(resource) as AnyObject),
                Patch::Part(part) => AnyPatch::Part(part),
            });
            Ok(Update { patch, reschedule })
        }
        .boxed()
    }

    fn cleanup<'r>(&'r self, given: AnyGiven<'r>) -> BoxFuture<'r, Result<Removal, RunFailure>> {
        async move {
            let Some(cleanup) = self.cleanup else { return Ok(Removal::Done) };
            let (primary, mut context) = given.typed().map_err(RunFailure::of_type)?;
            cleanup(&self.reconciler, &primary, &mut context).await.map_err(RunFailure::of_user)
        }
        .boxed()
    }

    fn cleans_up(&self) -> bool {
        self.cleanup.is_some()
    }
}
