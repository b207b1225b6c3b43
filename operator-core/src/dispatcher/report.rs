//! What is reported about a run: one span, one start, one end.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tracing::Span;

use super::failure::RunFailure;
use crate::{
    environment::Now,
    observe::{Observation, RunEnd, RunKind},
    operations::Writer,
    processor::{FailureKind, Run},
    resource::ResourceType,
};

/// The namespace of a cluster-scoped object in logs, as in JOSDK.
const NO_NAMESPACE: &str = "no namespace";

/// The span of a run, with the fields of JOSDK's MDC; the primary's name comes first in each line.
pub(super) fn span(
    writer: &Writer,
    kind: &ResourceType,
    run: &Run,
    meta: Option<&ObjectMeta>,
    because: &str,
) -> Span {
    tracing::info_span!(
        "reconcile",
        resource.name = run.key.name(),
        resource.namespace = run.key.namespace().unwrap_or(NO_NAMESPACE),
        resource.kind = %kind.kind(),
        resource.apiVersion = %kind.api_version(),
        controller = %writer.controller,
        resource.resourceVersion = meta.and_then(|meta| meta.resource_version.as_deref()),
        resource.generation = meta.and_then(|meta| meta.generation),
        resource.uid = %run.uid,
        because,
        attempt = run.retry.as_ref().map(|retry| retry.attempt),
    )
}

/// Reports a run's start to the observers at once, and its end when it is dropped, however the run ends.
pub(super) struct Report<'r> {
    /// The kind of the run, as it turned out.
    pub(super) kind: RunKind,
    /// Knows the controller, its clock and its observers.
    writer: &'r Writer,
    run: &'r Run,
    started: Now,
    end: Finish,
}

enum Finish {
    Abandoned,
    Succeeded,
    Failed { error: String, panicked: bool },
}

impl<'r> Report<'r> {
    pub(super) fn start(writer: &'r Writer, run: &'r Run, because: &str) -> Self {
        let attempt = run.retry.as_ref().map_or(0, |retry| retry.attempt);
        let (controller, key) = (&*writer.controller, &run.key);
        writer.observers.observe(&Observation::RunStarted { controller, key, because, attempt });
        let started = writer.environment.now();
        Self { kind: RunKind::Nothing, writer, run, started, end: Finish::Abandoned }
    }

    /// The run ended without an error.
    pub(super) fn succeeded(&mut self) {
        self.end = Finish::Succeeded;
    }

    /// The run ended with an error; the log level depends on whether more attempts follow.
    pub(super) fn failed(&mut self, failure: &RunFailure) {
        let error = crate::observe::error_chain(&**failure.error);
        let last = failure.kind == FailureKind::Retryable
            && self.run.retry.as_ref().is_some_and(|retry| retry.last_attempt);
        if failure.panicked {
            tracing::error!(%error, "run failed");
        } else if failure.is_conflict() && !last {
            tracing::info!("run met a conflict with another writer and will be repeated");
            tracing::debug!(%error, "conflict");
        } else if last || failure.kind == FailureKind::Permanent {
            tracing::error!(%error, "run failed, and will not be retried before the next event");
        } else {
            tracing::warn!(%error, "run failed and will be retried");
        }
        self.end = Finish::Failed { error, panicked: failure.panicked };
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        let end = match &self.end {
            Finish::Abandoned => RunEnd::Abandoned,
            Finish::Succeeded => RunEnd::Succeeded,
            Finish::Failed { error, panicked } => RunEnd::Failed { error, panicked: *panicked },
        };
        self.writer.observers.observe(&Observation::RunFinished {
            controller: &self.writer.controller,
            key: &self.run.key,
            kind: self.kind,
            end,
            took: self.writer.environment.now() - self.started,
        });
    }
}
