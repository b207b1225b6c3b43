//! An event source of the user's own, a timer, triggers run after run.

use futures::{FutureExt, future::BoxFuture};
use integration_tests::prelude::*;
use operator_core::{
    event_source::{EventSource, SourceDeclaration, SourceEvents, Sources, Wiring},
    observe::{Cause, SourceIndex},
    operator::Stopped,
};

const PERIOD: Duration = Duration::from_millis(50);
const THRESHOLD: usize = 3;
const NAME: &str = "timer";

/// Declares a timer that triggers every primary.
#[derive(Debug)]
struct Timer;

struct RunningTimer(SourceEvents);

impl SourceDeclaration for Timer {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        sources.add_source(Arc::new(RunningTimer(wiring.events(index, NAME))));
    }
}

impl EventSource for RunningTimer {
    fn name(&self) -> &str {
        NAME
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let events = self.0.clone();
        async move {
            let mut ticks = tokio::time::interval(PERIOD);
            loop {
                ticks.tick().await;
                events.wake_all();
            }
        }
        .boxed()
    }
}

#[operator_test]
async fn a_timer_of_ones_own_triggers_run_after_run() -> Result<()> {
    let scene = Scene::new("event-source").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().watches(Timer);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let by_timer = Cause::Source(SourceIndex(0)).into();
    eventually("runs caused by the timer alone", async || {
        let runs = script.runs.of("one").into_iter().filter(|run| run.causes == by_timer);
        Ok((runs.count() > THRESHOLD).then_some(()))
    })
    .await?;
    assert_eq!(operator.stop().await, Stopped::Drained);
    let runs = script.runs.of("one");
    assert!(runs[0].causes.contains(Cause::Created), "{runs:?}");
    assert!(runs[1..].iter().all(|run| run.causes == by_timer), "nothing else causes runs: {runs:?}");
    Ok(())
}
