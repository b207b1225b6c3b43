//! One run, from its start to what is reported to the processor.
//!
//! ```text
//! newest primary from the cache; from the server where the cache is in doubt
//!   ├─ gone, or another incarnation ─────────────────────────────▶ Gone
//!   ├─ all events are the reconciler's ─▶ reconcile, as below, for the mark and for the end, too
//!   ├─ marked for deletion
//!   │    ├─ without our finalizer ───────────────────────────────▶ Success: nothing to do
//!   │    └─ workflow's cleanup, cleanup ─ all agree ─▶ finalizer off ───────────────────▶ FinalizerRemoved
//!   └─ alive
//!        ├─ paused ─▶ one status ─────────────────────────────────▶ Success
//!        ├─ can't be decoded ────────────────────────────────────▶ Success: nothing to do
//!        ├─ finalizer missing ─▶ finalizer on, and on with the answered object
//!        ├─ workflow, unless it is invoked explicitly
//!        └─ reconcile ─▶ patch of the object ─────────────────────▶ Success
//!                 └─ error ─────────────────────────────────────▶ Failed
//! ```
//!
//! If the controller has a status function, it makes the status of each run whose primary stays, whatever the outcome
//! of the run.
//!
//! # Guarantees
//! - If user code panics, the run fails, and nothing else.
//! - A run that is dropped at any await leaves nothing behind: windows, gauges and spans are guards.
//! - If a primary is deleted or replaced during its run, the run ends without an error.
//! - A primary that can't be decoded any more is not reconciled; it is cleaned up with its last decodable state.
//! - With a deadline, a run that passes it is dropped, counts as failed and is retried; writing its status may take the
//!   same time again.
//!
//! # Assumptions
//! - The processor hands out one run per primary at a time.

mod ending;
mod failure;
mod newest;
mod pause;
mod report;
mod transitions;
mod user;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    environment::fenced_future,
    event_source::OnObject,
    observe::{Cause, RunKind},
    operations::{self, FinalizerAdded, PrimaryWriter, has_finalizer},
    processor::{Input, Outcome, Reschedule, Run, RunExecutor},
    reconciler::{AnyContext, AnyGiven, AnyStatus, ControllerContext, Removal, RunContext, SerializedStatus},
    resource::{AnyObject, Object},
    results::{DependentError, WorkflowError},
};

use failure::RunFailure;
use report::Report;
use user::AnyPatch;
pub(crate) use user::{Code, UserCode};

/// Executes the runs of one controller. JOSDK: `ReconciliationDispatcher`.
pub(crate) struct Dispatcher {
    pub(crate) code: Arc<dyn UserCode>,
    /// Makes the status of each run, if the controller has such a function.
    pub(crate) status: Option<AnyStatus>,
    /// Whether the first failure isn't retried.
    pub(crate) never_retries: bool,
    /// Whether a primary is left alone.
    pub(crate) paused_when: Option<OnObject<dyn Object>>,
    /// How long a run may take.
    pub(crate) timeout: Option<Duration>,
    /// The names of the event sources, for the causes of a run.
    pub(crate) source_names: Arc<[String]>,
    pub(crate) shared: Arc<ControllerContext>,
}

/// A dispatcher as the processor sees it.
pub(crate) struct Runs(pub(crate) Arc<Dispatcher>);

impl RunExecutor for Runs {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let dispatcher = Arc::clone(&self.0);
        async move { dispatcher.dispatch(run).await }.boxed()
    }
}

/// What a successful run returns.
enum Done {
    Nothing,
    /// The primary is left alone.
    Paused,
    FinalizerRemoved,
    Reconciled {
        reschedule: Option<Reschedule>,
    },
}

impl Dispatcher {
    async fn dispatch(&self, run: Run) -> Outcome {
        let context = self.context_of(&run);
        self.dispatch_in(&context, run).await
    }

    /// The context of a run.
    pub(crate) fn context_of(&self, run: &Run) -> Arc<AnyContext> {
        AnyContext::new(
            RunContext {
                key: run.key.clone(),
                uid: run.uid.clone(),
                causes: run.causes,
                retry: run.retry,
                departed: run.departed.clone(),
            },
            Arc::clone(&self.shared),
        )
    }

    /// One run, for a caller that looks at its context afterwards.
    pub(crate) async fn dispatch_in(&self, context: &Arc<AnyContext>, run: Run) -> Outcome {
        let because = run.causes.describe(|index| match self.source_names.get(usize::from(index.0)) {
            Some(name) => name.clone(),
            None => {
                let late = self.shared.sources.conditional().late_name(index);
                late.unwrap_or_else(|| "a further source".to_owned())
            }
        });
        // Before any wait: from now on, a run that is dropped reports that.
        let report = Report::start(&self.shared.writer, &run, &because);
        let began = Instant::now();
        let hold = async { context.hold_primary().await.map_err(RunFailure::of_write) };
        let held = self.in_time(began, hold).await;
        let primary = newest::known(&self.shared.primary, &run);
        // A run that ends before it has looked says so about this state.
        primary.iter().for_each(|primary| context.work_on(primary));
        let kind = self.shared.primary.resource_type();
        let meta = primary.as_deref().map(Object::meta);
        let span = report::span(&self.shared.writer, kind, &run, meta, &because);
        async {
            let mut report = report;
            tracing::debug!("run starts");
            let primary = match held {
                Ok(()) => {
                    let look = newest::live_if_in_doubt(&self.shared, &run, primary);
                    let look =
                        async { context.writing_run().noted(look.await).map_err(RunFailure::of_write) };
                    self.in_time(began, look).await
                }
                Err(failure) => Err(failure),
            };
            let result = match primary {
                Ok(Some(primary)) => self.in_time(began, self.work(primary, context, &mut report)).await,
                Ok(None) => {
                    report.succeeded();
                    return Outcome::Gone;
                }
                Err(failure) => Err(failure),
            };
            let overtaken = context.findings().overtaken;
            let outcome = self.conclude(result, context, &mut report).await;
            // What its functions would answer now is done by one more run, also after a failure that isn't retried.
            if let Some(source) = overtaken {
                let (key, cause) = (run.key.clone(), Cause::Source(source));
                self.shared.processor.send(Input::Related { key, cause });
            }
            outcome
        }
        .instrument(span)
        .await
    }

    /// A part of a run that began then. It is dropped when the run's time is over.
    async fn in_time<T>(
        &self,
        began: Instant,
        part: impl Future<Output = Result<T, RunFailure>>,
    ) -> Result<T, RunFailure> {
        let Some(limit) = self.timeout else { return part.await };
        let rest = limit.saturating_sub(began.elapsed());
        tokio::time::timeout(rest, part).await.unwrap_or_else(|_| Err(RunFailure::of_timeout(limit)))
    }

    async fn work(
        &self,
        primary: AnyObject,
        context: &Arc<AnyContext>,
        report: &mut Report<'_>,
    ) -> Result<Done, RunFailure> {
        context.work_on(&primary);
        if self.is_paused(&primary, context)? {
            return Ok(Done::Paused);
        }
        // Of all events, the reconciler handles each state of a primary, including its end, and the finalizers.
        let (all_events, is_going) = (self.shared.all_events, primary.meta().deletion_timestamp.is_some());
        if is_going && !all_events {
            return match context.finalizer() {
                Some(finalizer) if has_finalizer(&*primary, finalizer) => {
                    report.kind = RunKind::Cleanup;
                    self.clean_up(primary, context, finalizer).await
                }
                // Other finalizers still hold the object; their owners wait for its end.
                _ => Ok(Done::Nothing),
            };
        }
        // The state is an outdated one. The primary is reconciled when it can be decoded again.
        let is_ended = all_events && (is_going || context.run().departed.is_some());
        if !is_ended && self.shared.primary.is_undecodable(context.primary_key()) {
            return Ok(Done::Nothing);
        }
        let mut primary = primary;
        if let Some(finalizer) = self.shared.finalizer.as_deref().filter(|_| !all_events)
            && !has_finalizer(&*primary, finalizer)
        {
            match self.writer(context).add_finalizer(finalizer).await.map_err(RunFailure::of_write)? {
                FinalizerAdded::Yes(answer) => {
                    context.work_on(&answer);
                    primary = answer;
                }
                FinalizerAdded::Deleting => return Ok(Done::Nothing),
            }
        }
        report.kind = RunKind::Reconcile;
        self.reconcile(&primary, context).await
    }

    async fn reconcile(&self, primary: &AnyObject, context: &Arc<AnyContext>) -> Result<Done, RunFailure> {
        if let Some(error) = self.run_workflow(context).await {
            return Err(RunFailure::of_workflow(error));
        }
        let call = self.code.reconcile(AnyGiven { primary, context });
        let control = match fenced_future(call).await {
            Ok(control) => control?,
            Err(payload) => return Err(RunFailure::of_panic("reconciler", &*payload)),
        };
        if context.run().departed.is_some() {
            if control.patch.is_some() || control.reschedule.is_some() {
                tracing::warn!("the primary is gone: it isn't written or rescheduled");
            }
            return Ok(Done::Nothing);
        }
        let reschedule = context.again_after(control.reschedule);
        if let Some(patch) = control.patch {
            let writer = self.writer(context);
            let written = match patch {
                AnyPatch::Whole(resource) => writer.patch_resource(&**primary, &*resource).boxed().await,
                AnyPatch::Part(part) => writer.apply_part(part).boxed().await,
            };
            written.map_err(RunFailure::of_write)?;
        }
        Ok(Done::Reconciled { reschedule })
    }

    async fn patch_status(
        &self,
        status: SerializedStatus,
        original: &dyn Object,
        made_from: Option<&str>,
        context: &Arc<AnyContext>,
    ) -> Result<AnyObject, operations::Error> {
        let kind = || self.shared.primary.resource_type().clone();
        let status = status.map_err(|source| operations::Error::Serialize { kind: kind(), source })?;
        self.writer(context).patch_status(original, status, made_from).await
    }

    /// Runs the workflow that has to run before `reconcile`. Returns an error if the workflow fails the run.
    async fn run_workflow(&self, context: &Arc<AnyContext>) -> Option<WorkflowError> {
        let workflow = self.shared.workflow.as_ref().filter(|workflow| !workflow.is_explicit())?;
        tracing::trace!(?workflow, "runs before reconcile");
        context.run_workflow(false).await.err()
    }

    /// Cleans up the workflow: always before the user's own clean-up, unless user code invokes it and has a clean-up to
    /// do so. Returns whether everything is gone that has to be deleted before the primary.
    async fn clean_up_workflow(&self, context: &Arc<AnyContext>) -> Result<bool, WorkflowError> {
        let Some(workflow) = &self.shared.workflow else { return Ok(true) };
        if workflow.is_explicit() && self.code.cleans_up() {
            return Ok(true);
        }
        let result = context.run_workflow(true).await?;
        if !workflow.keeps_errors() {
            return Ok(result.all_deleted());
        }
        // A reconciler that handles errors itself decides in `cleanup`; without a `cleanup` nobody would, and leftovers
        // would be forgotten.
        if !self.code.cleans_up() {
            result.check()?;
            return Ok(result.all_deleted());
        }
        Ok(result.deleting().next().is_none())
    }

    async fn clean_up(
        &self,
        primary: AnyObject,
        context: &Arc<AnyContext>,
        finalizer: &str,
    ) -> Result<Done, RunFailure> {
        let all_deleted = self.clean_up_workflow(context).await.map_err(RunFailure::of_workflow)?;
        let call = self.code.cleanup(AnyGiven { primary: &primary, context });
        let answer = fenced_future(call).await;
        let again_after = |wanted| Ok(Done::Reconciled { reschedule: context.again_after(wanted) });
        match answer {
            Ok(Ok(Removal::Done)) => {
                // Even if user code has ignored the results of its clean-ups.
                let is_done = context.remembered().lock().is_cleaned_up().map_err(RunFailure::of_workflow)?;
                if !all_deleted || !is_done {
                    // A remaining object triggers the primary when it goes.
                    return again_after(None);
                }
                let records = context.records_of_nobody();
                if !records.is_empty() {
                    return Err(RunFailure::of_user(DependentError::FormerRecords { records }.boxed()));
                }
                self.writer(context).remove_finalizer(finalizer).await.map_err(RunFailure::of_write)?;
                Ok(Done::FinalizerRemoved)
            }
            Ok(Ok(Removal::Keep { again_in })) => again_after(again_in),
            Ok(Err(failure)) => Err(failure),
            Err(payload) => Err(RunFailure::of_panic("reconciler", &*payload)),
        }
    }

    fn writer<'r>(&'r self, context: &'r AnyContext) -> PrimaryWriter<'r> {
        PrimaryWriter::new(context.writing_run(), &context.shared().primary, self.shared.applies)
    }
}
