//! Many schedules of one simulation, until one of them fails.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use futures::{FutureExt, future::LocalBoxFuture};
use parking_lot::Mutex;

use super::{
    CalmRun, Choices, Oracle, Report, Sim, Tape,
    cluster::Readiness,
    made_up::MadeUp,
    oracles::same_state,
    order,
    report::{Failure, save},
    schedule::{ScheduleOutcome, run},
    shown,
    shrink::shrink,
    state::ClusterState,
    sweep::{self, References, SOMEBODY_ACTS},
    world::Apart,
};
use test_cluster::seed_of_the_day;

/// The lane of a tape that selects the write at which there is a crash: twice its number, and one more for a crash
/// after it.
pub(super) const CRASH_POINT: &str = "crash point";

/// The maximum number of times that a failing schedule is run again to make its story shorter.
const SHRINKING_RUNS: usize = 400;

/// The default of [`Settings::shrinking`].
const SHRINKING_TIME: Duration = Duration::from_secs(if cfg!(test) { 600 } else { 20 });

/// Runs one simulation: a calm run, then a schedule for each seed below `schedules`, and those of a sweep if there is
/// one. What [`sim_test`](crate::sim_test) calls.
///
/// Environment variables change this: `SIM_SCHEDULES` the number of schedules, `SIM_FIRST` the first seed, `SIM_SEED`
/// only this one, `SIM_TAPE` only the one in this file, `SIM_THREADS` how many at a time, `SIM_SWEEPS` how many of each
/// sweep or `all`.
///
/// # Panics
/// If a schedule violates an [`Oracle`]: with its story, as short as it could be made, and how to replay it.
#[expect(clippy::print_stderr, reason = "a test says what it has done")]
pub fn check<F, A>(name: &str, schedules: u64, test: F)
where
    F: Fn(Sim) -> A + Sync,
    A: Future<Output = ()>,
{
    match explore(name, Settings::from_environment(schedules), test) {
        Ok(report) => eprintln!("{name}: {report}"),
        Err(failure) => panic!("{failure}"),
    }
}

/// The schedules that are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of seeds.
    pub schedules: u64,
    /// The first seed; 0 unless a long run is divided into parts.
    pub first: u64,
    /// Only this seed.
    pub seed: Option<u64>,
    /// Only this tape.
    pub tape: Option<Tape>,
    /// The number of schedules at a time.
    pub threads: usize,
    /// The maximum number of schedules of each sweep over the calm run's requests, chosen by the date. Those of
    /// [`crash_at_every_write`](super::FaultPlan::crash_at_every_write) are always run.
    pub sweeps: u64,
    /// The maximum time for which a failing schedule is run again to make its story shorter, in real time; by default 20
    /// seconds.
    pub shrinking: Duration,
}

/// The default number of schedules of each sweep.
const SWEEPS: u64 = 12;

impl Settings {
    /// This number of seeds, on all cores, and complete sweeps.
    #[must_use]
    pub fn schedules(schedules: u64) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let (sweeps, shrinking) = (u64::MAX, SHRINKING_TIME);
        Self { schedules, first: 0, seed: None, tape: None, threads, sweeps, shrinking }
    }

    fn from_environment(schedules: u64) -> Self {
        let number = |name: &str| {
            let value = std::env::var(name).ok()?;
            Some(value.parse::<u64>().unwrap_or_else(|_| panic!("{name}={value:?} is not a number")))
        };
        let tape = std::env::var_os("SIM_TAPE").map(|file| {
            let text = std::fs::read_to_string(&file);
            let text =
                text.unwrap_or_else(|error| panic!("SIM_TAPE={} can't be read: {error}", file.display()));
            Tape::parse(&text).unwrap_or_else(|line| panic!("SIM_TAPE: line {line} is not one of a tape"))
        });
        let mut settings = Self::schedules(number("SIM_SCHEDULES").unwrap_or(schedules));
        settings.first = number("SIM_FIRST").unwrap_or(0);
        settings.seed = number("SIM_SEED");
        settings.tape = tape;
        settings.sweeps = match std::env::var("SIM_SWEEPS").as_deref() {
            Ok("all") => u64::MAX,
            _ => number("SIM_SWEEPS").unwrap_or(SWEEPS),
        };
        if let Some(threads) = number("SIM_THREADS") {
            settings.threads = usize::try_from(threads).unwrap_or(1).max(1);
        }
        settings
    }
}

/// The same as [`check`], with a result instead of a panic: for tests of simulations.
///
/// # Errors
/// The schedule that violates an [`Oracle`].
#[expect(clippy::needless_pass_by_value, reason = "they are made for this call")]
pub fn explore<F, A>(name: &str, settings: Settings, test: F) -> Result<Report, Box<Failure>>
where
    F: Fn(Sim) -> A + Sync,
    A: Future<Output = ()>,
{
    explore_any(name, &settings, &|sim| test(sim).boxed_local())
}

/// A simulation's test without its type, so that what runs it is compiled once and not for each test.
pub(super) type Test<'t> = &'t (dyn Fn(Sim) -> LocalBoxFuture<'t, ()> + Sync + 't);

fn explore_any<'t>(name: &'t str, settings: &Settings, test: Test<'t>) -> Result<Report, Box<Failure>> {
    let mut calm = in_thread(|| run(test, &Choices::replayed(Tape::calm()), None, &Apart::default()));
    if !calm.violations.is_empty() {
        return Err(Box::new(Failure::calm(name, calm)));
    }
    let made_up = in_thread(|| made_by_chance(name, test, &calm.run))?;
    calm.run.forget(made_up);
    if settings.tape.is_none() && settings.seed.is_none() {
        in_thread(|| order::compare(name, test, &calm.run))?;
    }
    let references = References::new(name, test, Arc::new(calm.run));
    if let (Some(tape), true) = (&settings.tape, shown::are_wanted()) {
        // Once more, for its log alone: otherwise what is logged is searched for secrets.
        let calm = Job::Tape(tape.clone()).reference(&references)?;
        let choices = Choices::replayed(tape.clone());
        let shown = Apart { shows_logs: true, ..Apart::default() };
        in_thread(|| drop(run(test, &choices, Some(&calm), &shown)));
    }
    let jobs = jobs(settings, &references.calm);
    let (mut report, failed) = all(settings, &jobs, &references, test);
    match failed {
        None => {
            report.made_up.clone_from(&references.calm.made_up);
            report.complete(settings.schedules)
        }
        Some((_, Err(failure))) => Err(failure),
        Some((job, Ok(outcome))) => {
            Err(Box::new(explain(name, (&jobs[job], settings.shrinking), outcome, &references, test)))
        }
    }
}

/// The places whose values the operator makes by chance: those that differ when the calm run is repeated. Must not be called inside
/// a runtime.
///
/// # Errors
/// If something else differs.
fn made_by_chance(name: &str, test: Test<'_>, calm: &CalmRun) -> Result<Vec<MadeUp>, Box<Failure>> {
    let apart = Apart { is_repeated: true, checkpoint: calm.checkpoint.clone(), ..Apart::default() };
    let mut again = run(test, &Choices::replayed(Tape::calm()), None, &apart);
    let states = || calm.states.iter().zip(&again.run.states);
    let found: BTreeSet<MadeUp> = states().flat_map(|(calm, again)| calm.made_by_chance(again)).collect();
    let found: Vec<MadeUp> = found.into_iter().collect();
    let masked = |state: &ClusterState| {
        let mut state = state.clone();
        state.forget_places(&found);
        state
    };
    let differs = states().find_map(|(calm, again)| same_state("at a rest", &masked(again), &masked(calm)));
    again.violations.extend(differs);
    match again.violations.is_empty() {
        true => Ok(found),
        false => Err(Box::new(Failure::calm(&format!("{name}, when the calm run is repeated,"), again))),
    }
}

/// The calls of one schedule: equal for equal seeds, wherever it is run.
pub fn trace<F, A>(seed: u64, test: F) -> Vec<String>
where
    F: Fn(Sim) -> A + Sync,
    A: Future<Output = ()>,
{
    let test: Test<'_> = &|sim| test(sim).boxed_local();
    in_thread(|| {
        let calm = Arc::new(run(test, &Choices::replayed(Tape::calm()), None, &Apart::default()).run);
        run(test, &Choices::seeded(seed), Some(&calm), &Apart::default()).trace()
    })
}

/// The source of a schedule's choices.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Seed(u64),
    Tape(Tape),
}

impl Job {
    fn choices(&self) -> Choices {
        match self {
            Self::Seed(seed) => Choices::seeded(*seed),
            Self::Tape(tape) => Choices::replayed(tape.clone()),
        }
    }

    /// The calm run with which its schedule is compared.
    fn reference(&self, references: &References<'_>) -> Result<Arc<CalmRun>, Box<Failure>> {
        match self {
            Self::Tape(tape) if tape.0.contains_key(SOMEBODY_ACTS) => references.of(tape),
            _ => references.ending(Readiness::wanted(&self.choices())),
        }
    }
}

fn jobs(settings: &Settings, calm: &CalmRun) -> Vec<Job> {
    if let Some(tape) = &settings.tape {
        return vec![Job::Tape(tape.clone())];
    }
    if let Some(seed) = settings.seed {
        return vec![Job::Seed(seed)];
    }
    let sweeps = sweep::jobs(calm, settings.sweeps, seed_of_the_day()).into_iter().map(Job::Tape);
    sweeps.chain((settings.first..settings.first.saturating_add(settings.schedules)).map(Job::Seed)).collect()
}

/// The job that has failed: a schedule, or the calm run with which it is compared.
type Failed = (usize, Result<ScheduleOutcome, Box<Failure>>);

/// Runs all jobs on several threads, until one fails; if several do, returns the first.
fn all(
    settings: &Settings,
    jobs: &[Job],
    references: &References<'_>,
    test: Test<'_>,
) -> (Report, Option<Failed>) {
    let (next, report) = (AtomicU64::new(0), Mutex::new(Report::default()));
    let failed: Mutex<Option<Failed>> = Mutex::new(None);
    let work = || {
        let mut own = Report::default();
        loop {
            let job = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
            let later = failed.lock().as_ref().is_some_and(|(first, _)| *first < job);
            if later || job >= jobs.len() {
                break;
            }
            let reference = jobs[job].reference(references);
            let outcome =
                reference.map(|calm| run(test, &jobs[job].choices(), Some(&calm), &Apart::default()));
            let is_drawn = matches!(jobs[job], Job::Seed(_));
            outcome.iter().for_each(|outcome| own.count(outcome, is_drawn));
            if outcome.as_ref().map_or(true, |outcome| !outcome.violations.is_empty()) {
                let mut failed = failed.lock();
                if failed.as_ref().is_none_or(|(first, _)| job < *first) {
                    *failed = Some((job, outcome));
                }
            }
        }
        report.lock().add(&own);
    };
    // Threads of their own, also for one: the caller may be inside a runtime.
    thread::scope(|scope| (0..settings.threads.min(jobs.len()).max(1)).for_each(|_| drop(scope.spawn(work))));
    (report.into_inner(), failed.into_inner())
}

/// Reduces a failing schedule, and checks whether it is repeatable.
fn explain(
    name: &str,
    (job, time): (&Job, Duration),
    outcome: ScheduleOutcome,
    references: &References<'_>,
    test: Test<'_>,
) -> Failure {
    let oracles: Vec<Oracle> = outcome.violations.iter().map(|violation| violation.oracle).collect();
    // A tape that is made shorter may be one in which somebody does something else.
    let run_apart = |job: &Job, apart: &Apart| {
        in_thread(|| {
            let calm = job.reference(references).unwrap_or_else(|_| Arc::clone(&references.calm));
            run(test, &job.choices(), Some(&calm), apart)
        })
    };
    let again = |job: &Job| run_apart(job, &Apart::default());
    let briefly = Apart { ends_with: oracles.clone(), ..Apart::default() };
    let diverges = divergence(&outcome.trace(), &again(job).trace());
    let full = outcome.tape.clone();
    let begin = real_time();
    let tape = shrink(full.clone(), SHRINKING_RUNS, |tape| {
        begin.elapsed() < time && run_apart(&Job::Tape(tape.clone()), &briefly).fails_like(&oracles)
    });
    let shrunk = again(&Job::Tape(tape.clone()));
    let last = if shrunk.fails_like(&oracles) { shrunk } else { outcome };
    Failure {
        name: name.to_owned(),
        seed: match job {
            Job::Seed(seed) => Some(*seed),
            Job::Tape(_) => None,
        },
        file: save(name, &tape, &last.trace()),
        weights: (full.weight(), tape.weight()),
        tape,
        violations: last.violations,
        story: last.story,
        diverges,
    }
}

/// The first call in which two runs differ that should be the same.
fn divergence(first: &[String], second: &[String]) -> Option<String> {
    let call =
        |calls: &[String], at: usize| calls.get(at).map_or("no call", |call: &String| call.trim()).to_owned();
    let at = (0..first.len().max(second.len())).find(|at| first.get(*at) != second.get(*at))?;
    Some(format!("call {} was `{}`, and then `{}`", at + 1, call(first, at), call(second, at)))
}

/// Each run has its own thread, so that it doesn't see the caller's runtime.
fn in_thread<T: Send>(what: impl FnOnce() -> T + Send) -> T {
    let result = thread::scope(|scope| scope.spawn(what).join());
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The only thing in a simulation that is not virtual: the time for which a user waits for the report.
#[expect(clippy::disallowed_methods, reason = "tokio's clock needs a runtime, and here is none")]
fn real_time() -> std::time::Instant {
    std::time::Instant::now()
}
