//! The end of a run: what is written about it, and what is reported to the processor.
//!
//! ```text
//! the outcome of the work ─▶ status function ─▶ report ─▶ Outcome
//! ```

use std::sync::Arc;

use futures::FutureExt;
use tokio::time::Instant;

use super::{Dispatcher, Done, failure::RunFailure, pause, report::Report, transitions::News};
use crate::{
    environment::fenced,
    observe::error_chain,
    operations::{self, TRIED_AGAIN_AFTER},
    processor::{FailureKind, Outcome, Reschedule},
    reconciler::{AnyContext, AnyRun, RunError},
    resource::AnyObject,
    results::failure_kind::{awaited, of_several},
};

/// The number of states of the primary from which a status is made.
const ATTEMPTS: u32 = 10;

impl Dispatcher {
    pub(super) async fn conclude(
        &self,
        result: Result<Done, RunFailure>,
        context: &Arc<AnyContext>,
        report: &mut Report<'_>,
    ) -> Outcome {
        // A step that waits is no failure.
        let result = result.or_else(|failure| match awaited(&**failure.error) {
            Some(awaited) => {
                tracing::debug!(reason = %awaited, "waits");
                context.remembered().lock().note_awaited(awaited.clone());
                Ok(Done::Reconciled { reschedule: context.again_after(Some(awaited.after)) })
            }
            None => Err(failure),
        });
        let (result, said) = match result {
            // The status is a part of the run: without it, the run has to be repeated.
            Ok(done @ Done::Reconciled { .. }) => {
                (self.write_status(None, context).await.map(|()| done), true)
            }
            Ok(Done::Paused) => (self.tell_of_pause(context).await.map(|()| Done::Nothing), true),
            result => (result, false),
        };
        // The writes of a run that was given the end of its primary show nothing new about it.
        let told_gone = context.run().departed.is_some();
        let mut failure = match result {
            Ok(done) => {
                report.succeeded();
                return match done {
                    Done::Nothing | Done::Paused => Outcome::Success { reschedule: None },
                    Done::FinalizerRemoved => Outcome::FinalizerRemoved,
                    Done::Reconciled { reschedule } => {
                        let again = context.findings().status_is_incomplete.then_some(TRIED_AGAIN_AFTER);
                        // The status function may have asked for another run.
                        let asked = context.remembered().lock().again_in;
                        let again = again.into_iter().chain(asked).min();
                        Outcome::Success { reschedule: Reschedule::earlier(reschedule, again) }
                    }
                };
            }
            // The writes themselves report it, because user code may have wrapped their error, or returned another one.
            Err(_) if context.findings().primary_is_gone && !told_gone => return gone(report),
            // The event of its deletion is about to arrive, and the next run handles it.
            Err(_) if context.findings().primary_is_going && !told_gone => return going(report),
            // A write into a namespace that is being deleted isn't worth a retry, whatever error user code returned.
            Err(failure) => {
                let ends = context.findings().namespace_ends;
                let kind = if ends { FailureKind::Permanent } else { failure.kind };
                RunFailure { kind, ..failure }
            }
        };
        let mut again = None;
        if !said {
            pause::says_so(context, false);
            let error = self.told(&failure, context);
            // What conditions have asked for is done by a retry; the status function knows of the failure.
            context.remembered().lock().again_in = None;
            if let Err(unsaid) = self.write_status(Some(error), context).await {
                if context.findings().primary_is_gone {
                    return gone(report);
                }
                tracing::warn!(error = %error_chain(&**unsaid.error), "the status of a failed run could not be written");
                // It is written in any case.
                failure.kind = of_several([failure.kind, unsaid.kind]);
                failure.panicked |= unsaid.panicked;
            }
            again = context.remembered().lock().again_in;
        }
        report.failed(&failure);
        Outcome::Failed { kind: failure.kind, not_before: context.findings().not_before, again }
    }

    /// Calls the status function, and writes the status. A primary that is gone has none; the status of a primary that
    /// can't be decoded any more doesn't change.
    pub(super) async fn write_status(
        &self,
        error: Option<RunError>,
        context: &Arc<AnyContext>,
    ) -> Result<(), RunFailure> {
        let Some(function) = &self.status else { return Ok(()) };
        let Some(primary) = context.own_primary() else { return Ok(()) };
        if self.shared.primary.is_undecodable(context.primary_key()) {
            return Ok(());
        }
        let run = Arc::new(AnyRun::new(context, AnyObject::clone(&primary), error));
        let make = || {
            fenced(|| function(&primary, &run))
                .map_err(|payload| RunFailure::of_panic("status function", &*payload))
        };
        let newest = || context.newest(&primary);
        // Before the call, which reads the conditions of others.
        let mut made_from = newest();
        let Some(mut status) = make()? else { return Ok(()) };
        let write = async {
            if run.is_unsure() {
                let (shared, key) = (context.shared(), context.primary_key());
                let live = operations::live(&shared.writer, shared.primary.informer(), key).boxed().await;
                if let Some(live) = live.map_err(RunFailure::of_write)? {
                    run.looked(live);
                    made_from = newest();
                    let Some(sure) = make()? else { return Ok(()) };
                    status = sure;
                }
            }
            let mut attempt = 1;
            loop {
                // Nothing else in a status may be somebody else's.
                let is_shared = status.as_ref().is_ok_and(|status| status.get("conditions").is_some());
                let version = made_from.version().filter(|_| is_shared);
                let news = status.as_ref().ok().and_then(|status| News::of(status, &context.scope()));
                match self.patch_status(status, &*primary, version, context).await {
                    // Somebody else has written the primary, perhaps a condition, which what is applied has to repeat.
                    Err(error)
                        if is_shared && error.is_conflict() && self.shared.applies && attempt < ATTEMPTS => {}
                    written => {
                        let written = written.map_err(RunFailure::of_write)?;
                        if let Some(news) = news {
                            news.tell(&run, &made_from, &written, context);
                        }
                        return Ok(());
                    }
                }
                made_from = newest();
                let Some(again) = make()? else { return Ok(()) };
                status = again;
                attempt += 1;
            }
        };
        self.in_time(Instant::now(), write).await
    }

    /// A failure, as a status function sees it.
    fn told(&self, failure: &RunFailure, context: &AnyContext) -> RunError {
        let retry = context.run().retry.as_ref();
        let is_last_attempt = match failure.kind {
            FailureKind::Permanent => true,
            FailureKind::Retryable => retry.map_or(self.never_retries, |retry| retry.last_attempt),
            FailureKind::Server | FailureKind::Outside => false,
        };
        RunError {
            error: Arc::clone(&failure.error),
            attempt: retry.map_or(0, |retry| retry.attempt),
            is_last_attempt,
            is_stalled: is_last_attempt || failure.kind == FailureKind::Outside,
            timed_out: failure.timed_out(),
            panicked: failure.panicked,
            node: None,
        }
    }
}

fn gone(report: &mut Report<'_>) -> Outcome {
    tracing::debug!("the primary was deleted or replaced during its run");
    report.succeeded();
    Outcome::Gone
}

fn going(report: &mut Report<'_>) -> Outcome {
    tracing::debug!("the primary is being deleted, but its run didn't know that yet");
    report.succeeded();
    Outcome::Success { reschedule: None }
}
