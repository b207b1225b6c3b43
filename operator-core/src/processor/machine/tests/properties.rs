//! Random schedules of everything that can happen, held against the oracle.

use proptest::{collection::vec, prelude::*, sample::select};

use super::{
    model::{Oracle, Settings},
    *,
};
use crate::processor::LinearRateLimiter;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// The namespaces that may be followed; the first stands for all.
const SCOPES: [&[&str]; 4] = [&[], &["test"], &["other"], &["other", "test"]];

fn namespace_of(name: &str) -> &'static str {
    if name < "c" { "test" } else { "other" }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced(namespace_of(name), name)
}

/// One step of a schedule. Names and runs are counted modulo those that there are.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// The object is created, or changes.
    Change(usize, Cause),
    /// The object is replaced, and no source has seen the deletion.
    Recreate(usize),
    /// The object gets a deletion timestamp.
    Mark(usize),
    Delete(usize),
    /// The deletion of a former object comes late.
    DeleteFormer(usize),
    Related(usize),
    Finish(usize, Outcome),
    /// The end of a run is reported once more.
    FinishAgain(usize),
    Pass(u64),
    /// Runs may start: by the opening that counts, or by the one before it.
    Start(bool),
    /// Runs may start in the namespace of that object.
    StartIn(usize, bool),
    /// These namespaces are followed from now on.
    Rescope(usize),
    /// The definition of the primaries changes.
    Redefine,
    Stop,
}

impl Op {
    /// Reads a step off a number. Strategies of strategies would say the same, but take ten times as long as the machine
    /// and the oracle together.
    fn of(number: u32) -> Self {
        const DELAYS: [u64; 8] = [0, 1, 50, 700, 2000, 2500, 7000, 60_000];
        const CAUSES: [Cause; 3] = [Cause::InitialList, Cause::Created, Cause::Changed];
        let mut rest = number as usize;
        let mut choose = |count: usize| {
            let choice = rest % count;
            rest /= count;
            choice
        };
        let kind = choose(43);
        let name = choose(NAMES.len());
        match kind {
            0..6 => Self::Change(name, CAUSES[choose(3)]),
            6..8 => Self::Recreate(name),
            8 => Self::Mark(name),
            9..11 => Self::Delete(name),
            11 => Self::DeleteFormer(name),
            12..17 => Self::Related(name),
            17..29 => {
                let outcome = match choose(17) {
                    0..4 => SUCCESS,
                    4 => {
                        let wish = if choose(2) > 0 { Reschedule::After } else { Reschedule::Within };
                        Outcome::Success { reschedule: Some(wish(millis(DELAYS[choose(8)]))) }
                    }
                    5..10 => FAILURE,
                    10 => REFUSAL,
                    11 => Outcome::Gone,
                    12 => Outcome::Abandoned,
                    // From the run's end on.
                    13 => {
                        let not_before = Some(Now::at(millis(DELAYS[choose(8)])));
                        let kind =
                            if choose(4) > 0 { FailureKind::Retryable } else { FailureKind::Permanent };
                        let again = (choose(3) == 0).then(|| millis(DELAYS[choose(8)]));
                        Outcome::Failed { kind, not_before, again }
                    }
                    14 => Outcome::FinalizerRemoved,
                    15 => OUTSIDE,
                    _ => TROUBLE,
                };
                Self::Finish(name, outcome)
            }
            29 => Self::FinishAgain(choose(16)),
            30..36 => Self::Pass(DELAYS[choose(8)]),
            36 => Self::Start(choose(3) > 0),
            37..40 => Self::StartIn(name, choose(3) > 0),
            40 => Self::Rescope(choose(4)),
            41 => Self::Redefine,
            _ if choose(4) == 0 => Self::Stop,
            _ => Self::Related(name),
        }
    }
}

fn schedule() -> impl Strategy<Value = Vec<Op>> {
    vec(any::<u32>(), 1..60).prop_map(|numbers| numbers.into_iter().map(Op::of).collect())
}

fn config() -> impl Strategy<Value = (MachineConfig, Settings)> {
    const DEFAULT: &[u64] = &[2000, 2000, 3000, 4500, 6750];
    const LONG: &[u64] = &[60_000, 60_000];
    let retries = select(vec![
        (GenericRetry::josdk(), DEFAULT),
        (GenericRetry::linear(millis(60_000), 2).unwrap(), LONG),
        (GenericRetry::no_retry(), &[][..]),
    ]);
    let limits = select(vec![None, None, Some((1, 1000)), Some((3, 20_000))]);
    let intervals = select(vec![None, Some(30_000)]);
    (1..4usize, retries, limits, intervals, any::<bool>()).prop_map(
        |(max_concurrent, (retry, delays), limit, max_interval, all_events)| {
            let limiter =
                |(limit, period)| Arc::new(LinearRateLimiter::new(limit, millis(period)).unwrap()) as Arc<_>;
            let config = MachineConfig {
                max_concurrent,
                retry: Arc::new(retry),
                rate_limiter: limit.map(limiter),
                max_reconciliation_interval: max_interval.map(millis),
                ..MachineConfig::default()
            };
            let rate_limited = limit.is_some();
            (config, Settings { max_concurrent, delays, max_interval, rate_limited, all_events })
        },
    )
}

/// A machine and an oracle that follow the same schedule.
struct World {
    machine: Machine,
    oracle: Oracle,
    now: Now,
    openings: u64,
    ended: Vec<Run>,
}

impl World {
    fn new(config: MachineConfig, settings: Settings) -> Self {
        let oracle = Oracle::new(settings, NAMES.into_iter().map(key));
        Self { machine: Machine::new(config), oracle, now: Now::START, openings: 0, ended: Vec::new() }
    }

    fn on(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.oracle.follow(&input, self.now);
        self.machine.on(input, self.now, &mut effects);
        self.oracle.check(&effects, &self.machine);
        effects
    }

    fn tick(&mut self) {
        let mut effects = Vec::new();
        self.oracle.follow_tick(self.now);
        self.machine.tick(self.now, &mut effects);
        self.oracle.check(&effects, &self.machine);
        assert!(self.machine.next_deadline().is_none_or(|deadline| deadline > self.now), "past deadline");
        effects.clear();
        self.machine.tick(self.now, &mut effects);
        assert_eq!(effects, [], "a second tick has nothing left to do");
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(deadline) = self.machine.next_deadline().filter(|deadline| *deadline <= end) {
            self.now = self.now.max(deadline);
            self.tick();
        }
        self.now = end;
        self.tick();
    }

    fn change(&mut self, index: usize, replace: bool, cause: Cause) {
        if replace && self.oracle.settings.all_events {
            // A source that reports the last states of objects reports the end of a replaced one first.
            self.delete(index);
        }
        let key = key(NAMES[index]);
        let name = &self.oracle.names[&key];
        let replaced = replace || name.existing().is_none();
        let object = if replaced { name.last_object + 1 } else { name.last_object };
        let deleting = cause == Cause::MarkedForDeletion || (!replaced && name.deleting && !name.ended);
        let uid = uid_of(NAMES[index], object);
        self.on(Input::PrimaryChanged { key, uid, cause, deleting });
    }

    fn delete(&mut self, index: usize) {
        let key = key(NAMES[index]);
        if let Some(object) = self.oracle.names[&key].existing() {
            let last = self.oracle.settings.all_events.then(departed);
            self.on(Input::PrimaryDeleted { key, uid: uid_of(NAMES[index], object), last });
        }
    }

    fn finish(&mut self, run: Run, outcome: Outcome) {
        // A finalizer is only removed from an object that is marked for deletion.
        let deleting = self.oracle.names[&run.key].deleting;
        let outcome = if outcome == Outcome::FinalizerRemoved && !deleting { SUCCESS } else { outcome };
        let outcome = match outcome {
            Outcome::Failed { kind, not_before: Some(delay), again } => {
                let not_before = Some(self.now + delay.since(Now::START));
                Outcome::Failed { kind, not_before, again }
            }
            other => other,
        };
        self.on(Input::Finished { run: run.id, key: run.key.clone(), outcome });
        self.ended.push(run);
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Change(index, cause) => self.change(index, false, cause),
            Op::Recreate(index) => self.change(index, true, Cause::Changed),
            Op::Mark(index) => self.change(index, false, Cause::MarkedForDeletion),
            Op::Delete(index) => self.delete(index),
            Op::DeleteFormer(index) => {
                let former = self.oracle.names[&key(NAMES[index])].last_object.saturating_sub(1);
                let uid = uid_of(NAMES[index], former);
                let mut effects = Vec::new();
                self.machine.on(
                    Input::PrimaryDeleted { key: key(NAMES[index]), uid, last: Some(departed()) },
                    self.now,
                    &mut effects,
                );
                assert_eq!(effects, []);
            }
            Op::Related(index) => drop(self.on(Input::Related { key: key(NAMES[index]), cause: SOURCE })),
            Op::Finish(index, outcome) => {
                let runs = self.oracle.in_flight();
                if !runs.is_empty() {
                    self.finish(runs[index % runs.len()].clone(), outcome);
                }
            }
            Op::FinishAgain(index) => {
                if !self.ended.is_empty() {
                    let run = self.ended[index % self.ended.len()].clone();
                    let again = self.on(Input::Finished { run: run.id, key: run.key, outcome: FAILURE });
                    assert_eq!(again, []);
                }
            }
            Op::Pass(time) => self.pass(millis(time)),
            Op::Start(counts) => {
                drop(self.on(Input::Start { opening: self.opening(counts), namespace: None }))
            }
            Op::StartIn(index, counts) => {
                let namespace = namespace_of(NAMES[index]).into();
                drop(self.on(Input::Start { opening: self.opening(counts), namespace: Some(namespace) }));
            }
            Op::Rescope(which) => {
                let (before, now) = (self.oracle.followed.clone(), SCOPES[which]);
                let now = (which > 0).then(|| now.iter().map(|name| (*name).to_owned()).collect());
                if before != now {
                    self.openings += 1;
                    drop(self.on(Input::Rescoped { opening: self.openings, before, now }));
                }
            }
            Op::Redefine => drop(self.on(Input::Redefined { cause: SOURCE })),
            Op::Stop => drop(self.on(Input::Stop)),
        }
    }

    fn opening(&self, counts: bool) -> u64 {
        if counts { self.openings } else { self.openings.saturating_sub(1) }
    }

    /// Lets all runs succeed until nothing is pending.
    fn drain(&mut self) {
        self.on(Input::Start { opening: self.openings, namespace: None });
        for _ in 0..100 {
            for run in self.oracle.in_flight() {
                self.finish(run, SUCCESS);
            }
            let snapshot = self.machine.snapshot();
            if snapshot.running + snapshot.queued + snapshot.pending == 0 {
                return;
            }
            // A limit, a server that asked for patience, or a failing run whose events are braked.
            if let Some(deadline) = [snapshot.due.rate_limit, snapshot.due.retry].into_iter().flatten().min()
            {
                self.pass(deadline.since(self.now));
            }
        }
        panic!("something is pending forever: {:?}", self.machine.snapshot());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..crate::properties::daily() })]

    #[test]
    fn whatever_happens_each_change_is_followed_by_a_run_and_nothing_is_left_of_what_is_gone(
        (config, settings) in config(),
        schedule in schedule(),
    ) {
        let mut world = World::new(config, settings);
        for op in schedule {
            world.step(op);
        }
        if world.oracle.opening.is_none() {
            // The oracle has seen that nothing has started since the stop.
            return Ok(());
        }
        // Primaries in other namespaces don't matter.
        world.step(Op::Rescope(0));
        world.drain();
        world.oracle.check_drained();
        for index in 0..NAMES.len() {
            world.delete(index);
        }
        for run in world.oracle.in_flight() {
            world.finish(run, FAILURE);
        }
        // Ends that a run has to see: at once, after a delay, or when the maximum interval is over.
        for _ in 0..3 {
            world.drain();
            world.pass(millis(30_000));
        }
        world.drain();
        world.on(Input::Stop);
        let left = Snapshot { inputs: 0, ..world.machine.snapshot() };
        prop_assert_eq!(left, Snapshot::default());
        prop_assert_eq!(world.machine.next_deadline(), None);
    }
}
