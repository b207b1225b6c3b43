//! A controller that has been started.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::{
    cache,
    client::Term,
    environment::{Environment, Now},
    event_source::{ConditionalSources, EventSource},
    observe::{Observation, Observers, SourceHealth},
    processor::{Processor, Snapshot},
    resource::ObjectKey,
};

/// Tasks that end when this is dropped, and conditional sources that start and stop theirs themselves.
#[derive(Debug, Default)]
struct Tasks(Vec<Task>, Arc<ConditionalSources>);

#[derive(Debug)]
struct Task {
    /// What doesn't work any more once the task has ended; `None` for a task that is meant to end.
    serves: Option<String>,
    handle: JoinHandle<()>,
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in &self.0 {
            task.handle.abort();
        }
        self.1.close();
    }
}

/// A warning about sources that are not synced comes not more often than this, whatever was asked for.
const SHORTEST_SYNC_TIMEOUT: Duration = Duration::from_millis(10);

/// When runs may start, and what is said while they may not.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The time in which this replica leads, where there is an election.
    pub(super) term: Option<Term>,
    /// After this time, and each further one, sources that are not synced are warned about; `None` for never.
    pub(super) cache_sync_timeout: Option<Duration>,
}

/// A started controller: its event sources follow the cluster, and its processor hands out runs once all of them are
/// synced and, where there is an election, this replica leads. Dropping it stops everything at once, runs included.
///
/// All sources start at the same moment, and none waits for another.
#[derive(Debug)]
pub(crate) struct RunningController {
    name: Arc<str>,
    sources: Vec<Arc<dyn EventSource>>,
    conditional: Arc<ConditionalSources>,
    processor: Processor,
    tasks: Mutex<Tasks>,
}

impl RunningController {
    pub(super) fn start(
        name: Arc<str>,
        (sources, conditional): (Vec<Arc<dyn EventSource>>, Arc<ConditionalSources>),
        processor: Processor,
        processing: BoxFuture<'static, ()>,
        environment: &Environment,
        observers: Observers,
        Start { term, cache_sync_timeout }: Start,
    ) -> Self {
        let mut tasks = Tasks(Vec::new(), Arc::clone(&conditional));
        // One task for each source: one that can't reach its kind slows down nothing else.
        for source in &sources {
            let serves = Some(format!("event source {}", source.name()));
            tasks.0.push(Task { serves, handle: environment.spawn(source.run()) });
        }
        let serves = Some("the processor".to_owned());
        tasks.0.push(Task { serves, handle: environment.spawn(processing) });
        let starting = environment.spawn({
            let (name, processor, environment) = (Arc::clone(&name), processor.clone(), environment.clone());
            let sources = sources.clone();
            async move {
                all_synced(&name, &sources, cache_sync_timeout).await;
                if let Some(term) = term {
                    // What happens meanwhile is kept by the processor, as one run for each primary.
                    term.begun().await;
                }
                let after = environment.now() - Now::START;
                observers.observe(&Observation::ProcessingStarted { controller: &name, after });
                processor.start().await;
            }
        });
        tasks.0.push(Task { serves: None, handle: starting });
        Self { name, sources, conditional, processor, tasks: Mutex::new(tasks) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Resolves once every event source has seen everything, so that runs may start. Conditional ones start later.
    pub(crate) async fn synced(&self) {
        join_all(self.sources.iter().map(|source| source.synced())).await;
    }

    /// The event sources that run and are not healthy, by name.
    pub(crate) fn unhealthy(&self) -> Vec<(String, SourceHealth)> {
        let conditional = self.conditional.running();
        let all = self.sources.iter().chain(&conditional);
        let all = all.map(|source| (source.name().to_owned(), source.health()));
        all.filter(|(_, health)| *health != SourceHealth::Healthy).collect()
    }

    /// The objects that can't be decoded, by source, each with its field that isn't as expected.
    pub(crate) fn undecodable(&self) -> Vec<(String, ObjectKey, String)> {
        let conditional = self.conditional.running();
        let all = self.sources.iter().chain(&conditional);
        let of = |source: &Arc<dyn EventSource>| {
            let name = source.name().to_owned();
            source
                .undecodable()
                .into_iter()
                .map(move |(key, error)| (name.clone(), key, error))
                .collect::<Vec<_>>()
        };
        all.flat_map(of).collect()
    }

    /// What doesn't work any more because its task has ended, by a panic. Only a new start brings it back.
    pub(crate) fn ended_tasks(&self) -> Vec<String> {
        let tasks = self.tasks.lock();
        let ended = tasks.0.iter().filter(|task| task.handle.is_finished());
        let conditional =
            self.conditional.ended_tasks().into_iter().map(|name| format!("event source {name}"));
        ended.filter_map(|task| task.serves.clone()).chain(conditional).collect()
    }

    /// How much is kept about secondaries and primaries that are not there, by source; empty when nothing leaks.
    pub(crate) fn leftovers(&self) -> Vec<(String, usize)> {
        let conditional = self.conditional.running();
        let all = self.sources.iter().chain(&conditional);
        let all = all.map(|source| (source.name().to_owned(), source.leftovers()));
        all.filter(|(_, leftovers)| *leftovers > 0).collect()
    }

    /// Where the processor stands, after everything that its sources have delivered so far.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        self.processor.snapshot().await
    }

    /// Whether every source that runs has seen everything that exists at this moment.
    pub(crate) async fn caught_up(&self) -> Result<bool, cache::Error> {
        for source in &self.sources {
            if !source.caught_up().await? {
                return Ok(false);
            }
        }
        self.conditional.caught_up().await
    }

    /// Hands out no more runs, waits up to `timeout` for those under way, and stops everything. Says whether all of
    /// them ended by themselves.
    pub(crate) async fn stop(&self, timeout: Duration) -> bool {
        let drained = self.processor.drain(timeout).await;
        drop(std::mem::take(&mut *self.tasks.lock()));
        drained
    }
}

impl std::fmt::Debug for dyn EventSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Waits until all sources are synced; says in the log, once in each `timeout`, which are not, and why.
async fn all_synced(controller: &str, sources: &[Arc<dyn EventSource>], timeout: Option<Duration>) {
    let mut synced = std::pin::pin!(join_all(sources.iter().map(|source| source.synced())));
    let Some(timeout) = timeout.map(|timeout| timeout.max(SHORTEST_SYNC_TIMEOUT)) else {
        synced.await;
        return;
    };
    let mut waited = Duration::ZERO;
    while tokio::time::timeout(timeout, &mut synced).await.is_err() {
        waited += timeout;
        let lagging: Vec<String> =
            sources.iter().filter(|source| source.synced().now_or_never().is_none()).map(lag).collect();
        tracing::warn!(
            controller,
            waited_ms = waited.as_millis(),
            lagging = lagging.join("; "),
            "no run starts before all event sources are synced"
        );
    }
}

/// Which source is not synced, and why.
fn lag(source: &Arc<dyn EventSource>) -> String {
    let name = source.name();
    match source.health() {
        SourceHealth::Unhealthy { reason, advice: Some(advice) } => format!("{name}: {reason} ({advice})"),
        SourceHealth::Unhealthy { reason, advice: None } => format!("{name}: {reason}"),
        SourceHealth::Syncing | SourceHealth::Healthy => format!("{name}: not everything has been seen yet"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        observe::Observer,
        processor::{MachineConfig, Outcome, Run, RunExecutor},
    };

    /// Follows nothing: until its end, or until it panics.
    struct Source {
        name: &'static str,
        panics: bool,
    }

    impl EventSource for Source {
        fn name(&self) -> &str {
            self.name
        }

        fn run(&self) -> BoxFuture<'static, ()> {
            match self.panics {
                true => async { panic!("a bug") }.boxed(),
                false => std::future::pending().boxed(),
            }
        }

        fn synced(&self) -> BoxFuture<'static, ()> {
            std::future::ready(()).boxed()
        }

        fn health(&self) -> SourceHealth {
            SourceHealth::Healthy
        }

        fn caught_up(&self) -> BoxFuture<'static, Result<bool, cache::Error>> {
            std::future::ready(Ok(true)).boxed()
        }
    }

    struct NoRuns;

    impl RunExecutor for NoRuns {
        fn execute(&self, _: Run) -> BoxFuture<'static, Outcome> {
            std::future::pending().boxed()
        }
    }

    #[derive(Debug)]
    struct PanickingObserver;

    impl Observer for PanickingObserver {
        fn observe(&self, _: &Observation<'_>) {
            panic!("a bug of an observer")
        }
    }

    fn start(sources: Vec<Arc<dyn EventSource>>, observers: Observers) -> RunningController {
        let environment = Environment::real();
        let (processor, processing) = Processor::new(
            MachineConfig::default(),
            environment.clone(),
            observers.clone(),
            Arc::from("web"),
        );
        RunningController::start(
            Arc::from("web"),
            (sources, Arc::default()),
            processor,
            processing.run(Arc::new(NoRuns)).boxed(),
            &environment,
            observers,
            Start::default(),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_has_ended_is_named_and_one_that_is_meant_to_end_is_not() {
        let pods = Source { name: "Pod", panics: false };
        let secrets = Source { name: "Secret", panics: true };
        let controller = start(vec![Arc::new(pods), Arc::new(secrets)], Observers::default());
        assert!(controller.ended_tasks().is_empty());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(controller.snapshot().await.is_running, "the starting task has done its work");
        assert_eq!(controller.ended_tasks(), ["event source Secret"]);
        assert!(controller.stop(Duration::from_secs(1)).await);
        assert!(controller.ended_tasks().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_observer_that_panics_does_not_keep_runs_from_starting() {
        let pods = Source { name: "Pod", panics: false };
        let controller = start(vec![Arc::new(pods)], Observers::new(vec![Arc::new(PanickingObserver)]));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(controller.snapshot().await.is_running);
        assert!(controller.stop(Duration::from_secs(1)).await);
        assert!(controller.ended_tasks().is_empty());
    }
}
