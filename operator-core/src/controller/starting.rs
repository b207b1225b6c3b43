//! From the start of a controller until runs of all its primaries may start.

use std::{
    collections::BTreeSet,
    future::pending,
    mem,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    client::Term,
    environment::{Environment, Now},
    event_source::{EventSource, Opening, Opens, SourcePart},
    observe::{Observation, Observers, SourceHealth},
    operations::Recorder,
    processor::Processor,
};

/// Sources have at least this time to be synced before a warning, or before a start fails, whatever was configured.
pub(crate) const SHORTEST_SYNC_TIMEOUT: Duration = Duration::from_millis(10);

/// When runs may start, and what is reported while they may not.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// The time in which this replica leads, if there is an election.
    pub(super) term: Option<Term>,
    /// After this time, and each further one, sources that are not synced are warned about; `None` for never.
    pub(super) cache_sync_timeout: Option<Duration>,
    /// The namespaces that start one by one; without any, no run starts before everything is synced.
    pub(super) own: BTreeSet<String>,
    /// No run starts before everything is synced.
    pub(super) as_a_whole: bool,
    /// Writes Events; a stop waits for it.
    pub(super) events: Option<Arc<Recorder>>,
}

/// Lets primaries run as soon as what concerns them has been seen.
pub(super) struct Starting {
    pub(super) controller: Arc<str>,
    pub(super) sources: Vec<Arc<dyn EventSource>>,
    pub(super) opening: Opening,
    pub(super) processor: Processor,
    pub(super) environment: Environment,
    pub(super) observers: Observers,
    /// Whether runs of some primaries have started, perhaps before the namespaces were changed.
    pub(super) has_begun: Arc<AtomicBool>,
}

impl Starting {
    pub(super) async fn run(mut self, Start { term, cache_sync_timeout, .. }: Start) {
        let timeout = cache_sync_timeout.map(|timeout| timeout.max(SHORTEST_SYNC_TIMEOUT));
        let mut leads = term.is_none();
        // What happens before is kept by the processor, as one run for each primary.
        let mut begun = pin!(async {
            match term {
                Some(term) => term.begun().await,
                None => pending().await,
            }
        });
        let (mut waited, mut due) = (Duration::ZERO, Vec::new());
        let mut warning = pin!(sleep(timeout));
        loop {
            if leads {
                for opens in mem::take(&mut due) {
                    self.open(&opens);
                    if opens == Opens::Everything {
                        return;
                    }
                }
            }
            tokio::select! {
                biased;
                () = &mut begun, if !leads => leads = true,
                Some(opens) = self.opening.next() => due.push(opens),
                () = &mut warning, if !self.opening.is_over() => {
                    waited += timeout.unwrap_or_default();
                    self.warn(waited, self.has_begun.load(Ordering::Relaxed));
                    warning.set(sleep(timeout));
                }
            }
        }
    }

    fn open(&self, opens: &Opens) {
        let controller = &*self.controller;
        let after = self.environment.now() - Now::START;
        let some = !matches!(opens, Opens::Namespaces(namespaces) if namespaces.is_empty());
        if some && !self.has_begun.swap(true, Ordering::Relaxed) {
            self.observers.observe(&Observation::ProcessingStarted { controller, after });
        }
        let after_ms = after.as_millis();
        match opens {
            Opens::Everything => {
                tracing::info!(controller, after_ms, "all caches are synced, runs may start");
                self.processor.open(None);
            }
            Opens::Namespaces(namespaces) => {
                for namespace in namespaces {
                    tracing::info!(
                        controller,
                        namespace,
                        after_ms,
                        "runs may start in this namespace; others wait for their event sources"
                    );
                    self.processor.open(Some(namespace));
                }
            }
        }
    }

    /// Logs which sources are not synced, and why.
    fn warn(&self, waited: Duration, has_begun: bool) {
        let (controller, waited_ms) = (&*self.controller, waited.as_millis());
        let lagging = self.sources.iter().flat_map(|source| {
            source.parts().into_iter().filter(|part| !part.synced).map(|part| lag(source.name(), &part))
        });
        let lagging = lagging.collect::<Vec<_>>().join("; ");
        if has_begun {
            tracing::warn!(
                controller,
                waited_ms,
                lagging,
                "no run starts in some namespaces before their event sources are synced"
            );
        } else {
            tracing::warn!(
                controller,
                waited_ms,
                lagging,
                "no run starts before all event sources are synced"
            );
        }
    }
}

async fn sleep(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => pending().await,
    }
}

/// The part of a source that is not synced, and why.
fn lag(source: &str, part: &SourcePart) -> String {
    let name = match &part.namespace {
        Some(namespace) => format!("{source} in namespace {namespace}"),
        None => source.to_owned(),
    };
    match &part.health {
        SourceHealth::Unhealthy { reason, advice: Some(advice) } => format!("{name}: {reason} ({advice})"),
        SourceHealth::Unhealthy { reason, advice: None } => format!("{name}: {reason}"),
        SourceHealth::Syncing | SourceHealth::Healthy => format!("{name}: not everything has been seen yet"),
    }
}
