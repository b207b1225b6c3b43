//! Gauges don't drift, whatever the schedule: each run is taken off the queue by its start or by its withdrawal, and an
//! end belongs to each start.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use proptest::prelude::*;
use tokio::sync::{mpsc, oneshot};

use super::*;
use crate::{
    environment::Environment,
    metrics::{MetricsObserver, Recorders},
    observe::{Cause, Observation, Observer, Observers, RunEnd, RunKind, SourceIndex},
    processor::{FailureKind, Input, MachineConfig, Outcome, Run},
    resource::ObjectKey,
};

/// Reports starts and ends as the dispatcher does, and ends each run as the test says.
struct Reporting {
    observers: Observers,
    started: mpsc::UnboundedSender<(ObjectKey, oneshot::Sender<Outcome>)>,
}

/// The end of a run, reported whichever way it comes.
struct Ends(Observers, ObjectKey);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.observe(&Observation::RunFinished {
            controller: "web",
            key: &self.1,
            kind: RunKind::Reconcile,
            end: RunEnd::Abandoned,
            took: Duration::ZERO,
        });
    }
}

impl RunExecutor for Reporting {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let (observers, started) = (self.observers.clone(), self.started.clone());
        async move {
            let (controller, key) = ("web", run.key);
            observers.observe(&Observation::RunStarted { controller, key: &key, because: "", attempt: 0 });
            let _ends = Ends(observers, key.clone());
            let (end, ended) = oneshot::channel();
            let _ = started.send((key, end));
            // A test that drops the sender makes the run panic.
            ended.await.expect("an outcome")
        }
        .boxed()
    }
}

struct Bench {
    processor: Processor,
    /// Polled by hand: it can be dropped between the moment when it hands out a run and the run's first poll.
    task: BoxFuture<'static, ()>,
    started: mpsc::UnboundedReceiver<(ObjectKey, oneshot::Sender<Outcome>)>,
    running: BTreeMap<ObjectKey, oneshot::Sender<Outcome>>,
    recorded: PrometheusHandle,
    opening: u64,
}

#[derive(Clone, Debug)]
enum Event {
    Changed {
        primary: u8,
        uid: u8,
    },
    Related(u8),
    Deleted {
        primary: u8,
        uid: u8,
    },
    Ends {
        nth: usize,
        how: u8,
    },
    Stop,
    /// The primaries' namespace is left, or followed again.
    Rescoped(bool),
    Start,
    TimePasses,
    /// The processor takes in what was sent, and the runs that it hands out are not polled yet.
    TakesIn,
    /// Everything that can happen without time passing has happened; without it, steps pile up.
    Settle,
}

fn key(primary: u8) -> ObjectKey {
    ObjectKey::namespaced("shop", &primary.to_string())
}

fn step() -> impl Strategy<Value = Event> {
    prop_oneof![
        16 => (0u8..6, 0u8..2).prop_map(|(primary, uid)| Event::Changed { primary, uid }),
        8 => (0u8..6).prop_map(Event::Related),
        8 => (0u8..6, 0u8..2).prop_map(|(primary, uid)| Event::Deleted { primary, uid }),
        12 => (0usize..3, 0u8..5).prop_map(|(nth, how)| Event::Ends { nth, how }),
        1 => Just(Event::Stop),
        2 => any::<bool>().prop_map(Event::Rescoped),
        6 => Just(Event::Start),
        4 => Just(Event::TimePasses),
        8 => Just(Event::TakesIn),
        12 => Just(Event::Settle),
    ]
}

impl Bench {
    fn new() -> Self {
        let environment = Environment::real();
        let recorder = PrometheusBuilder::new().build_recorder();
        let recorded = recorder.handle();
        let observer = MetricsObserver::new(Recorders { given: Some(Arc::new(recorder)), served: None });
        let observers = Observers::new(vec![Arc::new(observer) as Arc<dyn Observer>]);
        let (sender, started) = mpsc::unbounded_channel();
        let executor = Arc::new(Reporting { observers: observers.clone(), started: sender });
        let config = MachineConfig { max_concurrent: 2, ..MachineConfig::default() };
        let (processor, task) = Processor::new(config, environment, observers, Arc::from("web"));
        let task = task.run(executor).boxed();
        Self { processor, task, started, running: BTreeMap::new(), recorded, opening: 0 }
    }

    async fn step(&mut self, step: Event) {
        match step {
            Event::Changed { primary, uid } => {
                let (key, uid) = (key(primary), uid.to_string().as_str().into());
                self.processor.send(Input::PrimaryChanged {
                    key,
                    uid,
                    cause: Cause::Changed,
                    deleting: false,
                });
            }
            Event::Related(primary) => {
                let (key, cause) = (key(primary), Cause::Source(SourceIndex(0)));
                self.processor.send(Input::Related { key, cause });
            }
            Event::Deleted { primary, uid } => {
                let (key, uid) = (key(primary), uid.to_string().as_str().into());
                self.processor.send(Input::PrimaryDeleted { key, uid, last: None });
            }
            Event::Ends { nth, how } => self.end(nth, how),
            Event::Stop => self.processor.send(Input::Stop),
            Event::Rescoped(leaves) => {
                let [shop, other] = ["shop", "other"].map(|name| Some([name.to_owned()].into()));
                let (before, now) = if leaves { (shop, other) } else { (other, shop) };
                self.opening += 1;
                self.processor.send(Input::Rescoped { opening: self.opening, before, now });
            }
            Event::Start => self.processor.send(Input::Start { opening: self.opening, namespace: None }),
            Event::TimePasses => self.beside(tokio::time::sleep(Duration::from_secs(3))).await,
            Event::TakesIn => assert!(futures::poll!(&mut self.task).is_pending()),
            Event::Settle => self.settle().await,
        }
    }

    fn end(&mut self, nth: usize, how: u8) {
        let Some(key) = self.running.keys().nth(nth).cloned() else { return };
        let end = self.running.remove(&key).expect("it was just found");
        let outcome = match how {
            0 => Outcome::Success { reschedule: None },
            1 => Outcome::Failed { kind: FailureKind::Retryable, not_before: None, again: None },
            2 => Outcome::Gone,
            3 => Outcome::FinalizerRemoved,
            _ => return,
        };
        // The run may have been cancelled meanwhile.
        let _ = end.send(outcome);
    }

    /// Drives the processor until `what` is done.
    async fn beside<T>(&mut self, what: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = what => done,
            () = &mut self.task => panic!("the processor has a handle and goes on"),
        }
    }

    async fn settle(&mut self) {
        self.beside(others_run()).await;
        while let Ok((key, end)) = self.started.try_recv() {
            self.running.insert(key, end);
        }
    }
}

/// Lets all other tasks do what they can without time passing.
async fn others_run() {
    for _ in 0..30 {
        tokio::task::yield_now().await;
    }
}

fn gauges(recorded: &PrometheusHandle) -> [f64; 3] {
    let text = recorded.render();
    ["reconciliations_queue", "reconciliations_active", "custom_resources"].map(|name| {
        let series = format!("{name}{{controller_name=\"web\"}} ");
        let value = text.lines().find_map(|line| line.strip_prefix(&series));
        value.map_or(0.0, |value| value.parse().expect("a number"))
    })
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn gauges_say_what_is_the_case_and_end_at_zero(steps in proptest::collection::vec(step(), 1..80)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let mut bench = Bench::new();
            bench.processor.send(Input::Start { opening: 0, namespace: None });
            for step in steps {
                let settles = matches!(step, Event::Settle);
                bench.step(step).await;
                if settles {
                    let processor = bench.processor.clone();
                    let snapshot = bench.beside(processor.snapshot()).await;
                    let expected = [snapshot.queued, snapshot.running, snapshot.keys];
                    prop_assert_eq!(gauges(&bench.recorded).map(|gauge| gauge as usize), expected);
                    prop_assert!(gauges(&bench.recorded).iter().all(|gauge| *gauge >= 0.0));
                }
            }
            // Wherever it is: with messages that were not taken in, with runs that were not polled.
            let recorded = bench.recorded.clone();
            drop(bench);
            others_run().await;
            prop_assert_eq!(gauges(&recorded), [0.0; 3]);
            Ok(())
        })?;
    }
}
