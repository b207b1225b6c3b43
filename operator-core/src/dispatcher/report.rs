//! What the world is told about a run: one span, one start, one end.

use tracing::{Span, field};

use super::failure::Failure;
use crate::{
    environment::Now,
    observe::{Observation, RunEnd, RunKind},
    processor::Run,
    reconciler::ControllerContext,
    resource::KubeObject,
};

/// What a cluster-scoped object has for a namespace in logs; JOSDK's words.
const NO_NAMESPACE: &str = "no namespace";

/// The span of a run, with the fields of JOSDK's MDC.
pub(super) fn span<P: KubeObject>(
    shared: &ControllerContext<P>,
    run: &Run,
    primary: Option<&P>,
    because: &str,
) -> Span {
    let kind = shared.primary.resource_type();
    let meta = primary.map(kube::Resource::meta);
    tracing::info_span!(
        "reconcile",
        controller = %shared.controller,
        resource.apiVersion = %kind.api_version(),
        resource.kind = %kind.kind(),
        resource.name = run.key.name(),
        resource.namespace = run.key.namespace().unwrap_or(NO_NAMESPACE),
        resource.resourceVersion = meta.and_then(|meta| meta.resource_version.as_deref()),
        resource.generation = meta.and_then(|meta| meta.generation),
        resource.uid = %run.uid,
        because,
        attempt = run.retry.as_ref().map(|retry| retry.attempt),
        error = field::Empty,
    )
}

/// Tells the observers of a run's start at once, and of its end when it is dropped, whichever way the run ends.
pub(super) struct Report<'r> {
    /// What the run turned out to be.
    pub(super) kind: RunKind,
    observe: Box<dyn Fn(&Observation<'_>) + Send + Sync + 'r>,
    now: Box<dyn Fn() -> Now + Send + Sync + 'r>,
    controller: &'r str,
    run: &'r Run,
    started: Now,
    end: End,
}

enum End {
    Abandoned,
    Succeeded,
    Failed { error: String, panicked: bool },
}

impl<'r> Report<'r> {
    pub(super) fn start<P: KubeObject>(
        shared: &'r ControllerContext<P>,
        run: &'r Run,
        because: &str,
    ) -> Self {
        let writer = &shared.writer;
        let attempt = run.retry.as_ref().map_or(0, |retry| retry.attempt);
        let (controller, key) = (&*shared.controller, &run.key);
        writer.observers.observe(&Observation::RunStarted { controller, key, because, attempt });
        tracing::debug!("run starts");
        Self {
            kind: RunKind::Nothing,
            observe: Box::new(|observation| writer.observers.observe(observation)),
            now: Box::new(|| writer.environment.now()),
            controller,
            run,
            started: writer.environment.now(),
            end: End::Abandoned,
        }
    }

    /// The run ended without an error.
    pub(super) fn succeeded(&mut self) {
        self.end = End::Succeeded;
    }

    /// The run ended with an error; how loud that is said depends on whether more attempts follow.
    pub(super) fn failed<P>(&mut self, failure: &Failure<P>, handled: bool) {
        let error = crate::observe::error_chain(&*failure.error);
        Span::current().record("error", &error);
        let last = self.run.retry.as_ref().is_some_and(|retry| retry.last_attempt);
        if failure.panicked {
            tracing::error!(%error, "run failed");
        } else if failure.is_conflict() && !last {
            tracing::info!("run met a conflict with another writer and will be repeated");
            tracing::debug!(%error, "conflict");
        } else if handled && !last {
            tracing::debug!(%error, "run failed, as its error status says");
        } else if last || !failure.retryable {
            tracing::error!(%error, "run failed, and will not be retried before the next event");
        } else {
            tracing::warn!(%error, "run failed and will be retried");
        }
        self.end = End::Failed { error, panicked: failure.panicked };
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        let end = match &self.end {
            End::Abandoned => RunEnd::Abandoned,
            End::Succeeded => RunEnd::Succeeded,
            End::Failed { error, panicked } => RunEnd::Failed { error, panicked: *panicked },
        };
        (self.observe)(&Observation::RunFinished {
            controller: self.controller,
            key: &self.run.key,
            kind: self.kind,
            end,
            took: (self.now)() - self.started,
        });
    }
}
