//! One run, from its start to what the processor is told about it.
//!
//! ```text
//! newest primary from the cache; from the server where the cache is in doubt
//!   ├─ gone, or another incarnation ─────────────────────────────▶ Gone
//!   ├─ marked for deletion
//!   │    ├─ without our finalizer ───────────────────────────────▶ Success: nothing to do
//!   │    └─ workflow's cleanup, cleanup ─ both agree ─▶ finalizer off ───────────────────▶ FinalizerRemoved
//!   └─ alive
//!        ├─ finalizer missing ─▶ finalizer on, and on with the answered object
//!        ├─ workflow, unless it is invoked explicitly
//!        └─ reconcile ─▶ patch of object and status ─────────────▶ Success
//!                 └─ error ─▶ error status ──────────────────────▶ Failed
//! ```
//!
//! # Guarantees
//! - User code that panics makes a failed run, nothing more.
//! - A run that is dropped at any await leaves nothing behind: windows, gauges and spans are guards.
//! - A primary that goes, or is replaced, while it is being worked on ends the run without an error.
//! - With a deadline, a run that passes it is dropped, counts as failed and is retried; the writing of its error status has
//!   the same time once more.
//!
//! # Assumptions
//! - The processor hands out one run per primary at a time.

mod failure;
mod newest;
mod report;

#[cfg(test)]
mod tests;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use tracing::Instrument;

use crate::{
    observe::RunKind,
    operations::{self, FinalizerAdded, PrimaryWriter, has_finalizer},
    processor::{Outcome, Run, RunExecutor},
    reconciler::{
        Context, ControllerContext, DeleteControl, ErrorStatus, ErrorStatusUpdateControl, PrimaryPatch,
        Reconciler, RunContext, StatusPatch, UpdateControl,
        workflow::{WorkflowError, panic_text},
    },
};

use failure::Failure;
use report::Report;

type Primary<R> = <R as Reconciler>::Primary;

/// Calls `Cleaner::cleanup` of a reconciler that has it.
pub(crate) type CleanupFn<R> = for<'c> fn(
    &'c R,
    Arc<Primary<R>>,
    &'c Context<Primary<R>>,
) -> BoxFuture<'c, Result<DeleteControl, <R as Reconciler>::Error>>;

/// Executes the runs of one controller. Answers to JOSDK's `ReconciliationDispatcher`.
pub(crate) struct Dispatcher<R: Reconciler> {
    pub(crate) reconciler: Arc<R>,
    pub(crate) cleanup: Option<CleanupFn<R>>,
    /// Whether primaries are written by server-side apply, otherwise by JSON patch.
    pub(crate) use_ssa: bool,
    /// How long a run may take.
    pub(crate) timeout: Option<Duration>,
    /// The names of the event sources, for the causes of a run.
    pub(crate) source_names: Arc<[String]>,
    pub(crate) shared: Arc<ControllerContext<Primary<R>>>,
}

/// A dispatcher as the processor sees it.
pub(crate) struct Runs<R: Reconciler>(pub(crate) Arc<Dispatcher<R>>);

impl<R: Reconciler> RunExecutor for Runs<R> {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let dispatcher = Arc::clone(&self.0);
        async move { dispatcher.dispatch(run).await }.boxed()
    }
}

/// What a run that went well asks for.
enum Done {
    Nothing,
    FinalizerRemoved,
    Reconciled { reschedule: Option<Duration> },
}

impl<R: Reconciler> Dispatcher<R> {
    async fn dispatch(&self, run: Run) -> Outcome {
        let because = run.causes.describe(|index| {
            self.source_names.get(usize::from(index.0)).map_or("a further source", String::as_str)
        });
        let primary = newest::known(&self.shared.primary, &run);
        let span = report::span(&self.shared, &run, primary.as_deref(), &because);
        async {
            let mut report = Report::start(&self.shared, &run, &because);
            let context = Context::new(
                RunContext {
                    key: run.key.clone(),
                    uid: run.uid.clone(),
                    causes: run.causes,
                    retry: run.retry,
                },
                Arc::clone(&self.shared),
            );
            let result = match newest::live_if_in_doubt(&self.shared, &run, primary).await {
                Ok(Some(primary)) => self.work_in_time(primary, &context, &mut report).await,
                Ok(None) => {
                    report.succeeded();
                    return Outcome::Gone;
                }
                Err(error) => Err(Failure::before_user_code(error)),
            };
            self.conclude(result, &context, &mut report).await
        }
        .instrument(span)
        .await
    }

    async fn work_in_time(
        &self,
        primary: Arc<Primary<R>>,
        context: &Context<Primary<R>>,
        report: &mut Report<'_>,
    ) -> Result<Done, Failure<Primary<R>>> {
        let Some(limit) = self.timeout else { return self.work(primary, context, report).await };
        let work = self.work(Arc::clone(&primary), context, report);
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            // Only a reconcile has an error status to write.
            Err(_) => Err(Failure::of_timeout((report.kind == RunKind::Reconcile).then_some(primary), limit)),
        }
    }

    async fn work(
        &self,
        primary: Arc<Primary<R>>,
        context: &Context<Primary<R>>,
        report: &mut Report<'_>,
    ) -> Result<Done, Failure<Primary<R>>> {
        let finalizer = self.shared.finalizer.as_deref();
        if primary_is_deleting(&*primary) {
            return match finalizer {
                Some(finalizer) if has_finalizer(&*primary, finalizer) => {
                    report.kind = RunKind::Cleanup;
                    self.clean_up(primary, context, finalizer).await
                }
                // Others still hold the object; its end is theirs to wait for.
                _ => Ok(Done::Nothing),
            };
        }
        let mut primary = primary;
        if let Some(finalizer) = finalizer
            && !has_finalizer(&*primary, finalizer)
        {
            match self.writer(context).add_finalizer(finalizer).await.map_err(Failure::before_user_code)? {
                FinalizerAdded::Yes(answer) => primary = answer,
                FinalizerAdded::Deleting => return Ok(Done::Nothing),
            }
        }
        report.kind = RunKind::Reconcile;
        self.reconcile(primary, context).await
    }

    async fn reconcile(
        &self,
        primary: Arc<Primary<R>>,
        context: &Context<Primary<R>>,
    ) -> Result<Done, Failure<Primary<R>>> {
        if let Some(error) = self.run_workflow(context).await {
            return Err(Failure::of_workflow(Some(primary), error));
        }
        let call = self.reconciler.reconcile(Arc::clone(&primary), context);
        let control = match AssertUnwindSafe(call).catch_unwind().await {
            Ok(Ok(control)) => control,
            Ok(Err(error)) => {
                let retryable = self.reconciler.is_retryable(&error);
                return Err(Failure::of_reconcile(primary, error.into(), retryable));
            }
            Err(payload) => return Err(Failure::of_panic(Some(primary), &payload)),
        };
        let reschedule = control.reschedule;
        match self.patch(control, &primary, context).await {
            Ok(()) => Ok(Done::Reconciled { reschedule }),
            Err(error) => Err(Failure::of_patch(primary, error)),
        }
    }

    async fn patch(
        &self,
        control: UpdateControl<Primary<R>>,
        original: &Primary<R>,
        context: &Context<Primary<R>>,
    ) -> Result<(), operations::Error> {
        let writer = self.writer(context);
        let (resource, status) = match control.patch {
            PrimaryPatch::None => (None, None),
            PrimaryPatch::Status(status) => (None, Some(status)),
            PrimaryPatch::Resource(resource) => (Some(resource), None),
            PrimaryPatch::ResourceAndStatus(resource, status) => (Some(resource), Some(status)),
        };
        if let Some(resource) = resource {
            writer.patch_resource(original, &resource).await?;
        }
        if let Some(status) = status {
            self.patch_status(status, original, context).await?;
        }
        Ok(())
    }

    async fn patch_status(
        &self,
        status: StatusPatch,
        original: &Primary<R>,
        context: &Context<Primary<R>>,
    ) -> Result<(), operations::Error> {
        let kind = || self.shared.primary.resource_type().clone();
        let status = status.0.map_err(|source| operations::Error::Serialize { kind: kind(), source })?;
        self.writer(context).patch_status(original, status).await?;
        Ok(())
    }

    /// Runs the workflow that is to run before `reconcile`. Answers with what went wrong, if that fails the run.
    async fn run_workflow(&self, context: &Context<Primary<R>>) -> Option<WorkflowError> {
        let workflow = self.shared.workflow.as_ref().filter(|workflow| !workflow.is_explicit())?;
        tracing::trace!(?workflow, "runs before reconcile");
        context.workflow().reconcile().await.err()
    }

    /// Cleans the workflow up: always before the user's own clean-up, except where user code invokes it and has a clean-up
    /// to do so in. Says whether everything is gone that has to go before the primary.
    async fn clean_up_workflow(&self, context: &Context<Primary<R>>) -> Result<bool, WorkflowError> {
        let Some(workflow) = &self.shared.workflow else { return Ok(true) };
        if workflow.is_explicit() && self.cleanup.is_some() {
            return Ok(true);
        }
        let handle = context.workflow();
        let result = handle.cleanup().await?;
        if !workflow.keeps_errors() {
            return Ok(result.all_deleted());
        }
        // Who wants to look at errors decides about them in `cleanup`; without one nobody would, and what is left behind
        // would be forgotten.
        if self.cleanup.is_none() {
            result.check()?;
            return Ok(result.all_deleted());
        }
        Ok(result.deleting().next().is_none())
    }

    async fn clean_up(
        &self,
        primary: Arc<Primary<R>>,
        context: &Context<Primary<R>>,
        finalizer: &str,
    ) -> Result<Done, Failure<Primary<R>>> {
        let all_deleted = match self.clean_up_workflow(context).await {
            Ok(all_deleted) => all_deleted,
            Err(error) => return Err(Failure::of_workflow(None, error)),
        };
        let call = async {
            match self.cleanup {
                Some(cleanup) => cleanup(&self.reconciler, primary, context).await,
                None => Ok(DeleteControl::RemoveFinalizer),
            }
        };
        match AssertUnwindSafe(call).catch_unwind().await {
            // What is not gone yet wakes the primary when it goes.
            Ok(Ok(DeleteControl::RemoveFinalizer)) if !all_deleted => {
                Ok(Done::Reconciled { reschedule: None })
            }
            Ok(Ok(DeleteControl::RemoveFinalizer)) => {
                self.writer(context).remove_finalizer(finalizer).await.map_err(Failure::before_user_code)?;
                Ok(Done::FinalizerRemoved)
            }
            Ok(Ok(DeleteControl::KeepFinalizer { reschedule_after })) => {
                Ok(Done::Reconciled { reschedule: reschedule_after })
            }
            Ok(Err(error)) => {
                let retryable = self.reconciler.is_retryable(&error);
                Err(Failure::of_cleanup(error.into(), retryable))
            }
            Err(payload) => Err(Failure::of_panic(None, &payload)),
        }
    }

    async fn conclude(
        &self,
        result: Result<Done, Failure<Primary<R>>>,
        context: &Context<Primary<R>>,
        report: &mut Report<'_>,
    ) -> Outcome {
        let failure = match result {
            Ok(done) => {
                report.succeeded();
                return match done {
                    Done::Nothing => Outcome::Success { reschedule: None },
                    Done::FinalizerRemoved => Outcome::FinalizerRemoved,
                    Done::Reconciled { reschedule } => Outcome::Success { reschedule },
                };
            }
            // Told by the writes themselves, as user code may have wrapped their error, or returned another one.
            Err(_) if context.findings().primary_is_gone() => {
                tracing::debug!("the primary went, or was replaced, during its run");
                report.succeeded();
                return Outcome::Gone;
            }
            // What goes with its namespace isn't worth a retry, whatever user code has made of the write's error.
            Err(failure) => {
                let retryable = failure.retryable && !context.findings().namespace_ends();
                Failure { retryable, ..failure }
            }
        };
        let (no_retry, reschedule, handled) = self.write_error_status(&failure, context).await;
        report.failed(&failure, handled);
        if no_retry {
            Outcome::Success { reschedule }
        } else {
            let not_before = context.findings().not_before();
            Outcome::Failed { retryable: failure.retryable, handled, not_before }
        }
    }

    /// Asks the user what to write about a failure of `reconcile`, and writes it; other failures are not theirs to explain.
    /// Says whether there is to be no retry, when the next run is wanted in that case, and whether the failure counts as
    /// handled.
    async fn write_error_status(
        &self,
        failure: &Failure<Primary<R>>,
        context: &Context<Primary<R>>,
    ) -> (bool, Option<Duration>, bool) {
        let Some(primary) = failure.reconciled.clone() else { return (false, None, false) };
        let work = async {
            let call = self.reconciler.update_error_status(Arc::clone(&primary), context, &*failure.error);
            let control = AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|payload| {
                tracing::error!(panic = panic_text(&*payload), "update_error_status panicked");
                ErrorStatusUpdateControl::default_processing()
            });
            let handled = !matches!(control.status, ErrorStatus::DefaultProcessing) || control.no_retry;
            if let ErrorStatus::Patch(status) = control.status
                && let Err(error) = self.patch_status(status, &primary, context).await
                && !error.is_gone()
            {
                tracing::warn!(error = %crate::observe::error_chain(&error), "the error status could not be written");
            }
            (control.no_retry, control.reschedule, handled)
        };
        let Some(limit) = self.timeout else { return work.await };
        tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            tracing::warn!(?limit, "update_error_status, or the write it asked for, took too long");
            (false, None, false)
        })
    }

    fn writer<'r>(&'r self, context: &'r Context<Primary<R>>) -> PrimaryWriter<'r, Primary<R>> {
        PrimaryWriter::new(context.writing_run(), &context.shared().primary, self.use_ssa)
    }
}

fn primary_is_deleting<P: kube::Resource>(primary: &P) -> bool {
    primary.meta().deletion_timestamp.is_some()
}
