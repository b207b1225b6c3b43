//! Tests of the shell, with paused time.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::*;
use crate::{
    environment::{Environment, Now},
    observe::{Cause, Observation, Observer, Observers},
    processor::{FailureKind, GenericRetry, Input, MachineConfig, Outcome, Retry, RetryState, Run},
    resource::ObjectKey,
};

const SUCCESS: Outcome = Outcome::Success { reschedule: None };
const FAILURE: Outcome = Outcome::Failed { kind: FailureKind::Retryable, not_before: None, again: None };

impl Processor {
    /// Lets runs start. Returns when that has happened for what was sent before. An operator calls `open`.
    pub(crate) async fn start(&self) {
        self.send(Input::Start { opening: 0, namespace: None });
        self.snapshot().await;
    }

    /// Lets no more runs start. Returns when that is so; runs in progress continue. An operator calls `drain`.
    pub(crate) async fn stop(&self) {
        self.send(Input::Stop);
        self.snapshot().await;
    }
}

/// A run that has started; ends in the way that the test decides.
struct Started {
    run: Run,
    at: Duration,
    end: oneshot::Sender<Outcome>,
}

/// Hands each run to the test.
struct ByHand {
    environment: Environment,
    started: mpsc::UnboundedSender<Started>,
    alive: Arc<AtomicUsize>,
}

/// Counts the runs that have neither ended nor been dropped.
struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RunExecutor for ByHand {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let (end, ended) = oneshot::channel();
        self.alive.fetch_add(1, Ordering::Relaxed);
        let alive = Alive(Arc::clone(&self.alive));
        let _ = self.started.send(Started { run, at: self.environment.now().since_start(), end });
        async move {
            let outcome = ended.await.expect("the test panics the run by dropping its end");
            drop(alive);
            outcome
        }
        .boxed()
    }
}

/// Records the observations.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn observe(&self, observation: &Observation<'_>) {
        let line = match observation {
            Observation::PrimaryAdded { controller, key } => format!("{controller}: added {key}"),
            Observation::PrimaryGone { key, .. } => format!("gone {key}"),
            Observation::RunSubmitted { key, attempt, .. } => format!("submitted {key} {attempt}"),
            Observation::RetryScheduled { key, attempt, after, .. } => {
                format!("retry {key} {attempt:?} {after:?}")
            }
            Observation::RunWithdrawn { key, .. } => format!("withdrawn {key}"),
            Observation::ProcessingStopped { queued, primaries, .. } => {
                format!("stopped with {queued} of {primaries} queued")
            }
            other => panic!("not the processor's: {other:?}"),
        };
        self.0.lock().push(line);
    }
}

struct Bench {
    processor: Processor,
    started: mpsc::UnboundedReceiver<Started>,
    alive: Arc<AtomicUsize>,
    log: Arc<Log>,
    task: JoinHandle<()>,
}

impl Bench {
    fn new(config: MachineConfig) -> Self {
        let environment = Environment::real();
        let (sender, started) = mpsc::unbounded_channel();
        let alive = Arc::new(AtomicUsize::new(0));
        let executor =
            ByHand { environment: environment.clone(), started: sender, alive: Arc::clone(&alive) };
        let log = Arc::new(Log::default());
        let observers = Observers::new(vec![Arc::clone(&log) as Arc<dyn Observer>]);
        let (processor, task) = Processor::new(config, environment.clone(), observers, Arc::from("web"));
        let task = environment.spawn("test", task.run(Arc::new(executor)));
        Self { processor, started, alive, log, task }
    }

    async fn started() -> Self {
        let bench = Self::new(MachineConfig { spread: 0.0, ..MachineConfig::default() });
        bench.processor.start().await;
        bench
    }

    fn changed(&self, name: &str) {
        self.processor.send(created(name));
    }

    fn related(&self, name: &str) {
        let cause = Cause::Source(crate::observe::SourceIndex(0));
        self.processor.send(Input::Related { key: key(name), cause });
    }

    /// The next run, whenever it starts.
    async fn run(&mut self) -> Started {
        self.started.recv().await.expect("the processor lives")
    }

    /// Lets everything happen that can happen without time passing.
    async fn settle(&self) {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }
}

impl Started {
    fn end(self, outcome: Outcome) {
        self.end.send(outcome).expect("the run is alive");
    }
}

fn created(name: &str) -> Input {
    Input::PrimaryChanged { key: key(name), uid: "1".into(), cause: Cause::Created, deleting: false }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster_scoped(name)
}

#[tokio::test(start_paused = true)]
async fn retries_fire_at_exactly_the_specified_instants() {
    let retry = Arc::new(GenericRetry::josdk());
    let mut bench = Bench::new(MachineConfig { spread: 0.0, retry, ..MachineConfig::default() });
    bench.processor.start().await;
    bench.changed("a");
    let mut instants = Vec::new();
    for _ in 0..6 {
        let started = bench.run().await;
        instants.push(started.at.as_millis());
        started.end(FAILURE);
    }
    assert_eq!(instants, [0, 2000, 4000, 7000, 11_500, 18_250]);
    bench.settle().await;
    assert_eq!(bench.processor.snapshot().await.exhausted, 1);
    let after_the_maximum_interval = bench.run().await.at;
    assert_eq!(after_the_maximum_interval.as_secs(), 18 + 36_000);
}

#[tokio::test(start_paused = true)]
async fn observers_are_told_in_order() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    bench.run().await.end(FAILURE);
    bench.run().await.end(SUCCESS);
    bench.processor.send(Input::PrimaryDeleted { key: key("a"), uid: "1".into(), last: None });
    bench.processor.snapshot().await;
    let expected =
        ["web: added a", "submitted a 0", "retry a Some(1) 2s", "submitted a 1", "gone a"].map(str::to_owned);
    assert_eq!(*bench.log.0.lock(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_contains_everything_that_was_sent_before() {
    let bench = Bench::new(MachineConfig::default());
    for n in 0..1000 {
        bench.changed(&n.to_string());
    }
    let snapshot = bench.processor.snapshot().await;
    assert_eq!((snapshot.keys, snapshot.inputs, snapshot.running), (1000, 1000, 0));
    bench.processor.start().await;
    let snapshot = bench.processor.snapshot().await;
    assert_eq!((snapshot.running, snapshot.queued), (50, 950));
    assert_eq!(bench.log.0.lock().len(), 2000, "what it tells of has been done");
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_a_run_starts_nothing_more() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    let run = bench.run().await;
    bench.processor.stop().await;
    bench.related("a");
    run.end(SUCCESS);
    bench.settle().await;
    let snapshot = bench.processor.snapshot().await;
    assert_eq!((snapshot.running, snapshot.pending, snapshot.is_running), (0, 1, false));
    bench.processor.start().await;
    assert!(bench.started.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_runs_in_flight_and_starts_no_more() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    let run = bench.run().await;
    bench.related("a");
    let processor = bench.processor.clone();
    let drain = tokio::spawn(async move { processor.drain(Duration::from_secs(25)).await });
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!drain.is_finished());
    run.end(SUCCESS);
    assert!(drain.await.unwrap());
    bench.settle().await;
    bench.processor.start().await;
    assert!(bench.started.try_recv().is_err(), "the pending event has no run");
    assert!(bench.processor.drain(Duration::from_secs(1)).await, "nothing is in flight");
}

/// The batch is sent without a pause: the task takes all of it in at once.
#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_what_has_started_whatever_is_in_its_batch() {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    for seed in 0..500_u64 {
        let mut random = test_cluster::seed_of_the_day() ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |most: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % most
        };
        let mut bench = Bench::new(MachineConfig { max_concurrent: 2, ..MachineConfig::default() });
        bench.processor.start().await;
        let inputs = below(12);
        let drain_at = below(inputs + 1);
        let mut drain = Box::pin(bench.processor.drain(Duration::from_secs(60)));
        for at in 0..=inputs {
            if at == drain_at {
                assert!(drain.as_mut().now_or_never().is_none(), "it is only asked for");
            }
            match (below(6), NAMES[below(4)]) {
                (0..3, name) => bench.changed(name),
                (3, name) => bench.related(name),
                (4, name) => {
                    bench.processor.send(Input::PrimaryDeleted {
                        key: key(name),
                        uid: "1".into(),
                        last: None,
                    });
                }
                _ => bench.processor.send(Input::Start { opening: 0, namespace: None }),
            }
        }
        bench.settle().await;
        let mut runs: Vec<_> = std::iter::from_fn(|| bench.started.try_recv().ok()).collect();
        let is_done = drain.as_mut().now_or_never();
        assert_eq!(is_done, runs.is_empty().then_some(true), "seed {seed}: {} runs have started", runs.len());
        runs.drain(..).for_each(|run| run.end(SUCCESS));
        if is_done.is_none() {
            assert!(drain.await, "seed {seed}");
        }
        bench.changed("later");
        bench.related("a");
        bench.settle().await;
        assert!(
            bench.started.try_recv().is_err() && bench.alive() == 0,
            "seed {seed}: something runs after the drain"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_past_its_deadline_says_so_and_dropping_the_task_cancels_the_runs() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    let run = bench.run().await;
    assert!(!bench.processor.drain(Duration::from_secs(25)).await);
    assert_eq!(bench.alive(), 1);
    bench.task.abort();
    bench.settle().await;
    assert_eq!(bench.alive(), 0);
    assert!(run.end.is_closed());
    assert!(!bench.processor.drain(Duration::from_secs(25)).await, "the run has not ended");
    assert_eq!(bench.processor.snapshot().await.running, 1, "the state at the task's end");
}

#[tokio::test(start_paused = true)]
async fn a_panicking_run_is_a_retryable_failure_and_hurts_nobody_else() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    let run = bench.run().await;
    drop(run.end);
    bench.changed("b");
    let run = bench.run().await;
    assert_eq!(run.run.key, key("b"));
    run.end(SUCCESS);
    let again = bench.run().await;
    assert_eq!((again.run.key, again.run.retry.map(|retry| retry.attempt)), (key("a"), Some(1)));
    assert_eq!(bench.alive(), 1);
}

/// Panics before it answers a future.
struct PanicsAtOnce(mpsc::UnboundedSender<Run>);

impl RunExecutor for PanicsAtOnce {
    fn execute(&self, run: Run) -> BoxFuture<'static, Outcome> {
        let _ = self.0.send(run);
        panic!("no future");
    }
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_panics_before_its_future_takes_nothing_down() {
    let environment = Environment::real();
    let (sender, mut runs) = mpsc::unbounded_channel();
    let (processor, task) =
        Processor::new(MachineConfig::default(), environment.clone(), Observers::default(), Arc::from("web"));
    environment.spawn("test", task.run(Arc::new(PanicsAtOnce(sender))));
    processor.start().await;
    processor.send(created("a"));
    for attempt in [None, Some(1), Some(2)] {
        assert_eq!(runs.recv().await.unwrap().retry.map(|retry| retry.attempt), attempt);
    }
}

/// Where runs end faster than they are taken in, there is always one that has ended.
#[tokio::test(start_paused = true)]
async fn a_stop_is_taken_in_although_further_runs_have_ended() {
    let mut bench = Bench::started().await;
    for number in 0..200 {
        bench.changed(&number.to_string());
    }
    let mut runs = Vec::new();
    for _ in 0..50 {
        runs.push(bench.run().await);
    }
    for run in runs {
        run.end(SUCCESS);
    }
    // All of them end before the processor's turn comes.
    bench.processor.stop().await;
    let mut begun = 0;
    while bench.started.try_recv().is_ok() {
        begun += 1;
    }
    assert!(begun <= 1, "{begun} runs began before the stop was taken in");
}

#[tokio::test(start_paused = true)]
async fn an_event_during_a_run_is_seen_as_the_imminent_next_run() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    let run = bench.run().await;
    assert!(!bench.processor.next_reconciliation_imminent(&key("a")));
    bench.related("a");
    bench.processor.snapshot().await;
    assert!(bench.processor.next_reconciliation_imminent(&key("a")));
    run.end(SUCCESS);
    bench.run().await.end(SUCCESS);
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_with_its_last_handle_and_cancels_its_runs() {
    let mut bench = Bench::started().await;
    bench.changed("a");
    let run = bench.run().await;
    drop(bench.processor);
    bench.task.await.unwrap();
    let mut end = run.end;
    tokio::time::timeout(Duration::from_secs(1), end.closed()).await.expect("the run is dropped");
}

#[tokio::test(start_paused = true)]
async fn many_runs_of_many_primaries_never_overlap_for_one_of_them() {
    let mut bench = Bench::started().await;
    let mut open: HashMap<ObjectKey, Started> = HashMap::new();
    for round in 0..50 {
        for n in 0..100 {
            bench.changed(&n.to_string());
        }
        bench.processor.snapshot().await;
        bench.settle().await;
        while let Ok(started) = bench.started.try_recv() {
            assert!(open.insert(started.run.key.clone(), started).is_none(), "round {round}");
        }
        assert_eq!(open.len(), 50);
        for (_, started) in open.drain() {
            started.end(SUCCESS);
        }
    }
}

/// Panics when a run has failed.
#[derive(Debug)]
struct NoPatience;

impl Retry for NoPatience {
    fn begin(&self) -> RetryState {
        panic!("no patience")
    }

    fn next_delay(&self, _: &mut RetryState, _: Now) -> Option<Duration> {
        None
    }

    fn is_last(&self, _: &RetryState) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_panics_ends_the_task_and_all_runs() {
    let environment = Environment::real();
    let (sender, mut runs) = mpsc::unbounded_channel();
    let alive = Arc::new(AtomicUsize::new(0));
    let by_hand = ByHand { environment: environment.clone(), started: sender, alive: Arc::clone(&alive) };
    let config = MachineConfig { retry: Arc::new(NoPatience), ..MachineConfig::default() };
    let (processor, task) =
        Processor::new(config, environment.clone(), Observers::default(), Arc::from("web"));
    let running = environment.spawn("test", task.run(Arc::new(by_hand)));
    processor.start().await;
    processor.send(created("a"));
    processor.send(created("b"));
    let (one, other) = (runs.recv().await.unwrap(), runs.recv().await.unwrap());
    one.end(FAILURE);
    let ended = running.await.unwrap_err();
    assert_eq!(ended.into_panic().downcast_ref::<&str>(), Some(&"no patience"));
    assert!(other.end.is_closed(), "the other run is cancelled");
}
