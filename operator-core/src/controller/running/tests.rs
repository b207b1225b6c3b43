//! A controller that runs, without a cluster.

use super::*;
use crate::{
    event_source::NoPrimaries,
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
    let parts = Parts {
        name: Arc::from("web"),
        primary_type: ResourceType::of::<k8s_openapi::api::core::v1::Pod>(),
        primaries: Arc::new(NoPrimaries),
        scopes: Arc::default(),
        sources,
        conditional: Arc::default(),
        processor,
        environment,
        observers,
        events: None,
        term: None,
        cache_sync_timeout: None,
        as_a_whole: false,
        has_begun: AtomicBool::new(false),
    };
    RunningController::start(parts, WatchScope::All, processing.run(Arc::new(NoRuns)).boxed())
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
