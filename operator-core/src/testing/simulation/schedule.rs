//! One schedule from start to end, on its own runtime with paused time.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{Arc, Once, atomic::Ordering},
    time::Duration,
};

use tokio::{runtime::Builder, task::LocalSet};
use tracing::Dispatch;

use super::{
    CalmRun, Choices, FaultPlan, Oracle, Sim, Tape, Violation,
    calm::Complaints,
    canary::Canaries,
    check::Test,
    cluster::{Readiness, Troubles},
    forbidden::{Phases, nothing_forbidden},
    listener::Listener,
    load::{Load, bounded_load},
    oracles,
    record::ScheduleRecord,
    shown,
    world::{Apart, World},
};
use crate::results::panic_text;

/// The outcome of a schedule. If nothing is wrong with it, it has no story and no tape.
pub(super) struct ScheduleOutcome {
    pub(super) violations: Vec<Violation>,
    pub(super) story: Vec<String>,
    pub(super) tape: Tape,
    pub(super) faults: BTreeMap<&'static str, u64>,
    pub(super) took: Duration,
    pub(super) plan: FaultPlan,
    /// What was wrong with the readiness of what the operator waits for, in a storm.
    pub(super) troubles: Troubles,
    /// It can't be a calm run in which readiness never comes.
    pub(super) is_unfit: bool,
    pub(super) run: CalmRun,
}

impl ScheduleOutcome {
    /// Every call with its moment and its answer: equal for equal schedules.
    pub(super) fn trace(&self) -> Vec<String> {
        self.run.calls.iter().map(ToString::to_string).collect()
    }

    /// Whether it is wrong in the same way as `other`.
    pub(super) fn fails_like(&self, other: &[Oracle]) -> bool {
        self.violations.iter().any(|violation| other.contains(&violation.oracle))
    }
}

/// A schedule that takes longer than this, in virtual time, hangs.
const ENDS_WITHIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Runs `test` with these choices. Without a calm run to compare with, it is the calm run, in which something may happen `apart`.
pub(super) fn run(
    test: Test<'_>,
    choices: &Choices,
    calm: Option<&Arc<CalmRun>>,
    apart: &Apart,
) -> ScheduleOutcome {
    // The backoff of kube's own watchers, where user code has some, is spread by the chance of this thread.
    // The repeated run has another one, so that what comes from there is known to be made by chance.
    let chance = u64::from(choices.next("jitter", u32::MAX));
    fastrand::seed(if apart.is_repeated { !chance } else { chance });
    let (canaries, complaints) = match calm {
        // Where somebody acts, or nothing gets ready, the operator may well have something to say.
        None if !apart.is_nothing() => (Canaries::remembering(), Complaints::default()),
        None => (Canaries::remembering(), Complaints::listening()),
        Some(_) => (Canaries::default(), Complaints::default()),
    };
    let seen = RefCell::new(None);
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without a driver for sockets can always be built");
    let listener = Listener::new(canaries.clone(), complaints.clone());
    let record = {
        let _its_time = runtime.enter();
        Arc::new(ScheduleRecord::new(canaries, complaints, apart.ends_with.clone()))
    };
    let tasks = LocalSet::new();
    let schedule = async {
        let calm = calm.map(Arc::clone);
        let world = World::new(choices.clone(), calm, apart.clone(), Arc::clone(&record)).await;
        *seen.borrow_mut() = Some(Rc::clone(&world));
        let sim = Sim { world };
        let all = async {
            test(sim.clone()).await;
            sim.finish().await
        };
        tokio::select! {
            biased;
            // It has been said.
            () = record.progress.stuck() => None,
            () = record.over() => None,
            run = tokio::time::timeout(ENDS_WITHIN, all) => match run {
                Ok(run) => Some(run),
                Err(_) => {
                    sim.world.cluster.is_unfit.set(true);
                    record.violated(Oracle::Test, "the schedule doesn't end");
                    None
                }
            }
        }
    };
    let listener: Dispatch = match apart.shows_logs {
        true => shown::logs(&record),
        false => listener.into(),
    };
    let run = tracing::dispatcher::with_default(&listener, || {
        silently(|| catch_unwind(AssertUnwindSafe(|| tasks.block_on(&runtime, schedule))))
    });
    let world = seen.borrow_mut().take();
    let mut violations = record.violations.lock().clone();
    let panics = PANICS.take();
    let has_panicked = run.is_err();
    let run = match run {
        Ok(run) => {
            let asked = world.as_ref().is_none_or(|world| !world.without.borrow().contains(&Oracle::Alive));
            violations.extend(panics.iter().filter(|_| asked).map(|message| panicked(message)));
            run
        }
        Err(_) => {
            // The first one is the cause of the others.
            let message = panics.into_iter().next().unwrap_or_else(|| "it panicked".to_owned());
            violations.insert(0, Violation { oracle: Oracle::Test, message });
            None
        }
    };
    violations.dedup();
    // No one needs the story of a schedule in which all went well.
    let outcome = ScheduleOutcome {
        story: if violations.is_empty() { Vec::new() } else { record.story.lock().clone() },
        tape: if violations.is_empty() { Tape::calm() } else { choices.tape() },
        violations,
        faults: record.faults.lock().clone(),
        took: record.now_at_end(),
        plan: world.as_ref().map_or_else(FaultPlan::none, |world| world.storm.plan()),
        troubles: world.as_ref().and_then(|world| *world.cluster.troubles.borrow()).unwrap_or_default(),
        is_unfit: has_panicked || world.as_ref().is_some_and(|world| world.cluster.is_unfit.get()),
        run: run.unwrap_or_else(|| CalmRun { calls: record.calls(), ..CalmRun::default() }),
    };
    // Tasks are dropped inside their runtime, and hold the world until then.
    drop((tasks, runtime));
    outcome
}

impl Sim {
    /// Checks every schedule, once the test itself is done.
    async fn finish(&self) -> CalmRun {
        let world = &self.world;
        if world.states.borrow().is_empty() {
            world.settle().await;
        }
        world.compare_last_state();
        let quiet = self.stays_quiet().await;
        let plan = world.storm.plan();
        // The end of everything meets the same bad luck as its beginning.
        world.cluster.is_farewell.set(true);
        world.follow(FaultPlan { rules: Vec::new(), ..plan.clone() });
        world.storm.sweep.farewell();
        let somebody = &world.storm.sweep.somebody;
        somebody.has_made_again();
        world.delete_all().await;
        world.settle().await;
        let mut ends = 1;
        if somebody.has_made_again() {
            ends += 1;
            // What somebody makes again while it goes has to go as well.
            world.delete_all().await;
            world.states.borrow_mut().pop();
            world.settle().await;
        }
        world.compare_last_state();
        let footprint = world.footprint().await;
        let calm = world.calm.as_deref();
        self.tell(oracles::no_leak(&footprint, calm.map(|calm| &calm.footprint)));
        let load = quiet.iter().fold(world.load(), |load, quiet| load.without(*quiet));
        let calls = world.record.calls();
        let farewell = world.farewell.get();
        if let Some(calm) = calm {
            let here = Phases { calls: &calls, farewell, ends };
            let there = Phases { calls: &calm.calls, farewell: calm.farewell, ends: 1 };
            self.tell(nothing_forbidden(here, there));
            let faults = world.record.faults.lock().values().sum();
            self.tell(bounded_load(load, calm.load, faults));
        }
        self.tell(self.secrets());
        self.tell(world.dead().await);
        self.tell(world.misdated());
        self.tell(world.record.complaints.judge());
        world.end().await;
        let (storm, cluster) = (&world.storm, &world.cluster);
        CalmRun {
            states: world.states.take(),
            calls,
            farewell,
            load,
            quiet,
            long_quiet: world.long_quiet.get(),
            footprint,
            writes: storm.writes(),
            moments: storm.moments.load(Ordering::Relaxed),
            sweep: plan.every_write,
            pairs: plan.pairs,
            storms: cluster.storms.get(),
            readiness: cluster.readiness,
            before: cluster.before.take(),
            points: Arc::new(storm.sweep.points()),
            made_up: Vec::new(),
            checkpoint: world.checkpoint.take(),
        }
    }

    /// Quiet: for ten minutes, and in some schedules for longer than the maximum interval between two runs.
    async fn stays_quiet(&self) -> [Load; 2] {
        let world = &self.world;
        let mut quiet = [Load::default(); 2];
        let lasts = [oracles::QUIET_FOR, oracles::LONG_QUIET_FOR];
        for (part, time) in lasts.into_iter().enumerate() {
            let calm = world.calm.as_ref().map(|calm| calm.quiet[part]);
            // An election costs a write each two seconds.
            let is_meant = !world.without.borrow().contains(&Oracle::Quiet)
                && !world.record.leases.elects()
                && world.cluster.readiness == Readiness::Comes
                && world.has_long_quiet;
            let is_drawn = || world.choices.rarely("long quiet", oracles::LONG_QUIET_ONE_IN, 1) != 0;
            if part > 0 && !(is_meant && (world.is_calm() || is_drawn())) {
                break;
            }
            let mark = world.mark();
            tokio::time::sleep(time).await;
            if part > 0 {
                world.long_quiet.set((mark.calls, world.mark().calls));
            }
            let (load, violations) = world.quiet_since(&mark, time.as_secs(), calm);
            quiet[part] = load;
            // An operator that isn't quiet for ten minutes wouldn't be for eleven hours, which take long.
            let is_over = !violations.is_empty();
            self.tell(violations);
            if is_over {
                break;
            }
        }
        quiet
    }

    fn tell(&self, violations: impl IntoIterator<Item = Violation>) {
        violations.into_iter().for_each(|violation| self.world.violated(violation.oracle, violation.message));
    }

    /// NoSecret.
    fn secrets(&self) -> Vec<Violation> {
        self.world.exclusive.look_at_metrics();
        for state in &*self.world.states.borrow() {
            state.texts().for_each(|(name, text)| self.world.record.canaries.look_at(&text, || name.clone()));
        }
        let mut places = self.world.record.canaries.found();
        places.sort();
        places.dedup();
        places.into_iter().map(|message| Violation { oracle: Oracle::NoSecret, message }).collect()
    }
}

/// Alive: a panic, even if it was caught.
fn panicked(message: &str) -> Violation {
    Violation { oracle: Oracle::Alive, message: format!("something panics: {message}") }
}

/// The maximum number of different panics in the report.
const MOST_PANICS: usize = 8;

thread_local! {
    static SILENT: RefCell<bool> = const { RefCell::new(false) };
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Panics of this thread are kept for the report and not printed: a shrinking failure panics hundreds of times.
fn silently<T>(what: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if SILENT.with_borrow(|silent| *silent) {
                let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
                let message = format!("{}{}", panic_text(info.payload()), place.unwrap_or_default());
                PANICS.with_borrow_mut(|panics| {
                    if panics.len() < MOST_PANICS && !panics.contains(&message) {
                        panics.push(message);
                    }
                });
            } else {
                before(info);
            }
        }));
    });
    PANICS.with_borrow_mut(Vec::clear);
    SILENT.with_borrow_mut(|silent| *silent = true);
    let result = what();
    SILENT.with_borrow_mut(|silent| *silent = false);
    result
}
