//! A controller that runs, without a cluster.

use tokio::sync::watch;

use super::*;
use crate::{
    environment::Environment,
    event_source::wiring_for_tests::wiring,
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
    let (processor, processing) =
        Processor::new(MachineConfig::default(), environment.clone(), observers.clone(), Arc::from("web"));
    let wiring =
        Wiring { controller: Arc::from("web"), environment, observers, ..wiring(Arc::default(), &[]) };
    let parts = Parts {
        wiring,
        sources,
        conditional: Arc::default(),
        processor,
        events: None,
        cache_sync_timeout: None,
        as_a_whole: false,
        has_begun: AtomicBool::new(false),
    };
    RunningController::start(parts, processing.run(Arc::new(NoRuns)).boxed())
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

/// A source that is synced when it follows other namespaces than at first, as a collection is that isn't followed any more.
/// Changing the namespaces takes some time.
struct Leaving {
    is_changed: watch::Sender<bool>,
    /// The duration of a change.
    takes: Duration,
}

impl EventSource for Leaving {
    fn name(&self) -> &str {
        "ConfigMap"
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        pending().boxed()
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let mut is_changed = self.is_changed.subscribe();
        // The source never sees anything of the new namespaces.
        let began = *is_changed.borrow();
        async move {
            if began {
                pending::<()>().await;
            }
            drop(is_changed.wait_for(|is_changed| *is_changed).await);
        }
        .boxed()
    }

    #[expect(clippy::disallowed_methods, reason = "a slow source blocks its caller")]
    fn change_namespaces(&self, _: &WatchScope) {
        self.is_changed.send_replace(true);
        std::thread::sleep(self.takes);
    }

    fn health(&self) -> SourceHealth {
        SourceHealth::Healthy
    }

    fn caught_up(&self) -> BoxFuture<'static, Result<bool, cache::Error>> {
        std::future::ready(Ok(true)).boxed()
    }
}

/// A collection that is synced only because it was left doesn't start runs: on several threads, and with a slow source.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_synced_before_the_namespaces_changed_opens_nothing_in_the_new_ones() {
    for attempt in 0..20 {
        let takes = Duration::from_millis(5 * (attempt % 3));
        let source = Leaving { is_changed: watch::Sender::new(false), takes };
        let controller = start(vec![Arc::new(source)], Observers::default());
        tokio::task::yield_now().await;
        assert!(controller.change_namespaces(&["bank"].into()));
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(!controller.snapshot().await.is_running, "runs start, and nothing of the namespace was seen");
        assert!(controller.stop(Duration::from_secs(1)).await);
    }
}

#[tokio::test(start_paused = true)]
async fn once_a_stop_has_begun_nothing_starts_and_no_namespace_changes() {
    let is_changed = watch::Sender::new(false);
    let source = Leaving { is_changed: is_changed.clone(), takes: Duration::ZERO };
    let controller = Arc::new(start(vec![Arc::new(source)], Observers::default()));
    tokio::task::yield_now().await;
    let stopping = Arc::clone(&controller);
    let stopping = tokio::spawn(async move { stopping.stop(Duration::from_secs(25)).await });
    tokio::task::yield_now().await;
    // The source is synced while the stop waits.
    is_changed.send_replace(true);
    assert!(!controller.change_namespaces(&["bank"].into()));
    assert!(stopping.await.expect("it doesn't panic"));
    assert!(!controller.snapshot().await.is_running);
}
