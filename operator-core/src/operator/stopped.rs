//! Event sources that have stopped for good, and operators that don't continue without them.

use std::{fmt, sync::atomic::Ordering};

use futures::future::join_all;

use super::{Error, Operator, lifecycle::Running, lifecycle::UnhealthySource};
use crate::{
    controller::{RunningController, SHORTEST_SYNC_TIMEOUT},
    event_source::HeldBack,
    observe::{Observation, Observer, SourceHealth},
};

/// An event source that has stopped for good, or a part of one. JOSDK: the argument of its `InformerStoppedHandler`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedSource {
    /// The controller's name.
    pub controller: String,
    /// The event source's name.
    pub source: String,
    /// Its namespace, if the source follows several separately.
    pub namespace: Option<String>,
    /// The reason, in the server's words if the server refused, and what can be done about it: which right to
    /// grant to which account.
    pub error: String,
}

impl fmt::Display for StoppedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { controller, source, namespace, error } = self;
        write!(f, "source {source} of controller {controller}")?;
        if let Some(namespace) = namespace {
            write!(f, " in namespace {namespace}")?;
        }
        write!(f, ": {error}")
    }
}

impl From<UnhealthySource> for StoppedSource {
    fn from(source: UnhealthySource) -> Self {
        let UnhealthySource { controller, source, namespace, health, .. } = source;
        let error = match health {
            SourceHealth::Unhealthy { reason, advice: Some(advice) } => format!("{reason}; {advice}"),
            SourceHealth::Unhealthy { reason, advice: None } => reason,
            SourceHealth::Syncing | SourceHealth::Healthy => "it has not seen all objects yet".to_owned(),
        };
        Self { controller, source, namespace, error }
    }
}

/// Reports stopped sources to a user's function.
pub(super) struct Told(pub(super) Box<dyn Fn(&StoppedSource) + Send + Sync>);

impl Observer for Told {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::SourceStopped { controller, source, namespace, error } = observation {
            (self.0)(&StoppedSource {
                controller: (*controller).to_owned(),
                source: (*source).to_owned(),
                namespace: namespace.map(str::to_owned),
                error: (*error).to_owned(),
            });
        }
    }
}

debug_of!(Told: "Told");

impl Operator {
    /// Waits until all event sources are synced, if all of them have to be before anything runs. A source that isn't
    /// synced in time counts as stopped, and the operator must not continue. `None` if it may.
    pub(super) async fn failed_at_start(&self) -> Option<Error> {
        if !self.settings.stop_on_source_error_at_start {
            return None;
        }
        let running = self.running().await?;
        // A declaration without a timeout is refused.
        let timeout = self.settings.cache_sync_timeout.unwrap_or_default().max(SHORTEST_SYNC_TIMEOUT);
        let synced = join_all(running.controllers.iter().map(RunningController::synced));
        if tokio::time::timeout(timeout, synced).await.is_ok() {
            return None;
        }
        let stopped = running.not_synced();
        // A source that was synced at this very moment, or was stopped by someone, hasn't failed.
        if stopped.is_empty() || running.stopping.load(Ordering::Relaxed) {
            return None;
        }
        for StoppedSource { controller, source, namespace, error } in &stopped {
            let namespace = namespace.as_deref();
            self.observers.observe(&Observation::SourceStopped { controller, source, namespace, error });
        }
        Some(Error::NotSynced { timeout, sources: stopped })
    }
}

impl Running {
    fn not_synced(&self) -> Vec<StoppedSource> {
        let waited_for = |source: &UnhealthySource| source.holds_back != HeldBack::Nobody;
        self.unhealthy_sources().into_iter().filter(waited_for).map(StoppedSource::from).collect()
    }
}
