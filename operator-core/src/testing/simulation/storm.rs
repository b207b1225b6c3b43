//! Turns the choices of a tape into faults.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use http::request::Parts;
use parking_lot::RwLock;

use super::{
    Choices, FaultPlan,
    leases::is_of_election,
    outside::Outside,
    plan::CrashPoint,
    record::Record,
    sweep::{Happens, Sweep},
};
use crate::testing::faults::{
    Cut, Director, Effect, End, Fault, LineFault, RequestTarget, StatusAnswer, Verb,
};

/// Decides with a tape what happens to each request and event.
pub(super) struct Storm {
    choices: Choices,
    record: Arc<Record>,
    plan: RwLock<FaultPlan>,
    crash_point: Option<CrashPoint>,
    pub(super) sweep: Sweep,
    pub(super) outside: Outside,
    writes: AtomicU64,
    faults: AtomicU32,
    crashes: AtomicU32,
    /// The classes of faults that this schedule doesn't use, one bit each.
    spared: AtomicU32,
}

/// The classes of faults that a storm may leave out. If everything goes wrong, many faults end what others have
/// started: a crash ends a silent watch.
#[derive(Clone, Copy)]
enum Class {
    Writes,
    Reads,
    Watches,
    Events,
    Crashes,
}

/// All of them.
const CLASSES: u32 = 5;

/// The maximum latency of a request in milliseconds, each way.
const LATENCY: u32 = 4;

/// The number of steps into which a watch's lag is divided.
const LAG_STEPS: u32 = 8;

const WRITE_FAULTS: [&str; 10] = [
    "write: answer lost",
    "write: done and answered 504",
    "write: refused",
    "write: answered 500",
    "write: answered 429",
    "write: answered 503",
    "write: never sent",
    "write: done and never answered",
    "write: answered 404 without a name",
    "write: answered late",
];

const READ_FAULTS: [&str; 12] = [
    "read: refused",
    "read: answer lost",
    "read: answered 500",
    "read: answered 429",
    "read: answered 504",
    "read: never answered",
    "read: cut",
    "read: answered 410",
    "read: cut as if complete",
    "read: answered 404 without a name",
    "read: stale when it arrives",
    "read: very stale when it arrives",
];

const WATCH_FAULTS: [&str; 8] = [
    "watch: refused",
    "watch: answered 500",
    "watch: answered 429",
    "watch: answered 410",
    "watch: never answered",
    "watch: closed at once",
    "watch: answered 404 without a name",
    "watch: reset after a line",
];

/// It takes two objects of one type.
pub(super) const SWAPPED: &str = "event: swapped with that of another object";

const EVENT_FAULTS: [&str; 10] = [
    "event: twice",
    "event: watch closed",
    "event: watch reset",
    "event: 410",
    "event: waits for the next",
    "event: late",
    "event: very late",
    SWAPPED,
    "event: silence",
    "event: silence, then 410",
];

fn write_fault(kind: usize) -> Fault {
    match kind {
        0 => Fault::AnswerLost,
        1 => Fault::StatusAfter(StatusAnswer::timeout()),
        2 => Fault::Refused,
        3 => Fault::Status(StatusAnswer::internal()),
        4 => Fault::Status(StatusAnswer::too_many_requests(1)),
        5 => Fault::Status(StatusAnswer::unavailable()),
        6 => Fault::Hang,
        7 => Fault::HangAfter,
        8 => Fault::Status(StatusAnswer::not_served()),
        _ => Fault::DelayAnswer(Duration::from_secs(2)),
    }
}

fn read_fault(kind: usize) -> Fault {
    match kind {
        0 => Fault::Refused,
        1 => Fault::AnswerLost,
        2 => Fault::Status(StatusAnswer::internal()),
        3 => Fault::Status(StatusAnswer::too_many_requests(1)),
        4 => Fault::Status(StatusAnswer::timeout()),
        5 => Fault::Hang,
        6 => Fault::Cut(Cut::Bytes(60), End::Reset),
        7 => Fault::Status(StatusAnswer::gone()),
        8 => Fault::Cut(Cut::Bytes(60), End::Clean),
        9 => Fault::Status(StatusAnswer::not_served()),
        // Reads are consistent, so that the server doesn't lie: what it said is old when it is heard.
        10 => Fault::DelayAnswer(Duration::from_secs(3)),
        _ => Fault::DelayAnswer(Duration::from_secs(25)),
    }
}

fn watch_fault(kind: usize) -> Fault {
    match kind {
        0 => Fault::Refused,
        1 => Fault::Status(StatusAnswer::internal()),
        2 => Fault::Status(StatusAnswer::too_many_requests(1)),
        3 => Fault::Status(StatusAnswer::gone()),
        4 => Fault::Hang,
        5 => Fault::Cut(Cut::Lines(0), End::Clean),
        6 => Fault::Status(StatusAnswer::not_served()),
        _ => Fault::Cut(Cut::Lines(1), End::Reset),
    }
}

fn event_fault(kind: usize) -> LineFault {
    match kind {
        0 => LineFault::Duplicate,
        1 => LineFault::Close(End::Clean),
        2 => LineFault::Close(End::Reset),
        3 => LineFault::Gone,
        4 => LineFault::Hold(1),
        5 => LineFault::Delay(Duration::from_secs(1)),
        6 => LineFault::Delay(Duration::from_secs(20)),
        7 => LineFault::Swap,
        // Longer than any watch is: a half-open connection.
        8 => LineFault::Delay(Duration::from_secs(600)),
        // As long as it takes until a version is compacted.
        _ => LineFault::SilentThenGone(Duration::from_secs(45)),
    }
}

/// A fault that was to hide what the server had done, although the server had refused it.
const NOTHING_DONE: &str = "write: not done by the server either, and its answer wrong or late";

/// A late answer to a read whose content is still current.
const LATE: &str = "read: late, and not stale";

/// The kinds of faults that a request with this verb can meet.
pub(super) fn kinds_of(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::Watch => &WATCH_FAULTS,
        Verb::Get | Verb::List => &READ_FAULTS,
        _ => &WRITE_FAULTS,
    }
}

/// One of them, and its name.
pub(super) fn fault_of(verb: Verb, kind: usize) -> Option<(&'static str, Fault)> {
    let name = *kinds_of(verb).get(kind)?;
    let fault = match verb {
        Verb::Watch => watch_fault(kind),
        Verb::Get | Verb::List => read_fault(kind),
        _ => write_fault(kind),
    };
    Some((name, fault))
}

/// All kinds of faults that a storm knows, and the crashes.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    let crashes = ["crash: before a write", "crash: after a write"];
    WRITE_FAULTS.into_iter().chain(READ_FAULTS).chain(WATCH_FAULTS).chain(EVENT_FAULTS).chain(crashes)
}

impl Storm {
    pub(super) fn new(
        choices: Choices,
        record: Arc<Record>,
        crash_point: Option<CrashPoint>,
        sweep: Sweep,
    ) -> Self {
        Self {
            outside: Outside::new(&choices),
            choices,
            record,
            plan: RwLock::new(FaultPlan::none()),
            crash_point,
            sweep,
            writes: AtomicU64::new(0),
            faults: AtomicU32::new(0),
            crashes: AtomicU32::new(0),
            spared: AtomicU32::new(0),
        }
    }

    /// From now on it follows this plan, and what has happened so far doesn't count any more. Half of all storms leave
    /// out some classes of faults.
    pub(super) fn follow(&self, plan: FaultPlan) {
        let classes = 1 << CLASSES;
        let spared = if plan.is_storm() { self.choices.next("spared", 2 * classes) } else { 0 };
        self.spared.store(spared.saturating_sub(classes), Ordering::Relaxed);
        self.outside.follow(&plan, &self.choices);
        *self.plan.write() = plan;
        self.faults.store(0, Ordering::Relaxed);
        self.crashes.store(0, Ordering::Relaxed);
    }

    pub(super) fn plan(&self) -> FaultPlan {
        self.plan.read().clone()
    }

    /// The number of writes so far.
    pub(super) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// One of `n` things, once in `one_in` times, as long as there is room for it.
    fn rare(&self, lane: &str, one_in: u32, n: usize, happened: &AtomicU32, most: u32) -> Option<usize> {
        if one_in == 0 || happened.load(Ordering::Relaxed) >= most {
            return None;
        }
        let kind = self.choices.rarely(lane, one_in, u32::try_from(n).unwrap_or(1)).checked_sub(1)?;
        happened.fetch_add(1, Ordering::Relaxed);
        usize::try_from(kind).ok()
    }

    /// Whether the process crashes at a call of another system.
    pub(super) fn crashes_at_call(&self, kind: &str) -> bool {
        let plan = self.plan();
        let one_in = if self.spares(Class::Crashes) { 0 } else { plan.crash_one_in };
        self.rare(kind, one_in, 1, &self.crashes, plan.most_crashes).is_some()
    }

    /// What happens to a call of another system, one of `n` things.
    pub(super) fn fault_of_call(&self, lane: &str, n: usize) -> Option<usize> {
        let plan = self.plan();
        self.rare(lane, plan.request_one_in, n, &self.faults, plan.most_faults)
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    fn spares(&self, class: Class) -> bool {
        self.spared.load(Ordering::Relaxed) & (1 << class as u32) != 0
    }

    /// Counts a fault when it takes effect, and adds it to the story then.
    fn effect(&self, kind: &'static str, told: String) -> Effect {
        let record = Arc::clone(&self.record);
        Effect::told(move |_| record.fault(kind, told))
    }

    /// The same for a fault that counts as one of its kind only if the server has executed the request.
    fn effect_if_done(&self, kind: &'static str, told: String) -> Effect {
        let record = Arc::clone(&self.record);
        Effect::told(move |done| record.fault(if done { kind } else { NOTHING_DONE }, told))
    }

    /// The same for a read that is only stale if something has been written before its answer arrives.
    fn effect_if_stale(&self, kind: &'static str, target: &RequestTarget, told: String) -> Effect {
        let (record, resource, read) = (Arc::clone(&self.record), target.resource.clone(), self.record.now());
        Effect::told(move |_| {
            let writes = record.with_calls(|calls| {
                let later = calls.iter().rev().take_while(|call| call.at >= read);
                later
                    .filter(|call| call.target.verb.is_write() && call.took_effect())
                    .any(|call| call.target.resource == resource)
            });
            record.fault(if writes { kind } else { LATE }, told);
        })
    }

    fn crash(&self, target: &RequestTarget, plan: &FaultPlan) -> Option<(Fault, Effect)> {
        // An election goes on and on, and is not what a crash interrupts.
        if !target.verb.is_write() || is_of_election(target) {
            return None;
        }
        let write = self.writes.fetch_add(1, Ordering::Relaxed) + 1;
        let subject = format!("crash {} {}", target.verb.as_str(), target.resource);
        let one_in = if self.spares(Class::Crashes) { 0 } else { plan.crash_one_in };
        let drawn = self.rare(&subject, one_in, 2, &self.crashes, plan.most_crashes);
        let after = match self.crash_point {
            Some(point) if point.write == write => point.after,
            _ => drawn? == 1,
        };
        let told = |fault: &Fault| format!("{target}: {fault}");
        Some(match after {
            false => (Fault::Crash, self.effect("crash: before a write", told(&Fault::Crash))),
            true => {
                (Fault::CrashAfter, self.effect_if_done("crash: after a write", told(&Fault::CrashAfter)))
            }
        })
    }
}

impl Director for Storm {
    fn request(&self, target: &RequestTarget, _: &Parts) -> Vec<(Fault, Effect)> {
        let plan = self.plan();
        let mut faults = Vec::new();
        let latency = self.choices.next(&format!("latency {}", target.resource), LATENCY * LATENCY);
        if latency > 0 {
            let part = |millis: u32| Duration::from_millis(u64::from(millis));
            faults.push((Fault::Delay(part(latency % LATENCY)), Effect::Untold));
            faults.push((Fault::DelayAnswer(part(latency / LATENCY)), Effect::Untold));
        }
        if let Some(crash) = self.crash(target, &plan) {
            faults.push(crash);
            return faults;
        }
        if let Some(Happens { kind, told, fault }) = self.sweep.request(target, &plan) {
            faults.push((fault, self.effect(kind, told)));
            return faults;
        }
        let (class, names, fault): (Class, &[&'static str], fn(usize) -> Fault) = match target.verb {
            Verb::Watch => (Class::Watches, &WATCH_FAULTS, watch_fault),
            Verb::Get | Verb::List => (Class::Reads, &READ_FAULTS, read_fault),
            _ => (Class::Writes, &WRITE_FAULTS, write_fault),
        };
        if self.spares(class) {
            return faults;
        }
        let lane = format!("request {} {}", target.verb.as_str(), target.resource);
        if let Some(kind) = self.rare(&lane, plan.request_one_in, names.len(), &self.faults, plan.most_faults)
        {
            let fault = fault(kind);
            let (name, told) = (names[kind], format!("{target}: {fault}"));
            let effect = match (&class, &fault) {
                (
                    Class::Writes,
                    Fault::AnswerLost | Fault::StatusAfter(_) | Fault::HangAfter | Fault::DelayAnswer(_),
                ) => self.effect_if_done(name, told),
                (Class::Reads, Fault::DelayAnswer(_)) => self.effect_if_stale(name, target, told),
                _ => self.effect(name, told),
            };
            faults.push((fault, effect));
        }
        faults
    }

    fn line(&self, watch: &RequestTarget, object: &RequestTarget) -> Option<(LineFault, Effect)> {
        let plan = self.plan();
        let lane = format!("event {}", watch.resource);
        let names = &EVENT_FAULTS;
        let one_in = if self.spares(Class::Events) { 0 } else { plan.event_one_in };
        if let Some(kind) = self.rare(&lane, one_in, names.len(), &self.faults, plan.most_faults) {
            let fault = event_fault(kind);
            return Some((fault, self.effect(names[kind], format!("{object}: {fault}"))));
        }
        if plan.watch_lag.is_zero() {
            return None;
        }
        let lag = self.choices.next(&format!("lag {}", watch.resource), LAG_STEPS);
        (lag > 0).then(|| (LineFault::Delay(plan.watch_lag * lag / LAG_STEPS), Effect::Untold))
    }

    fn looks_at_lines(&self, _: &RequestTarget) -> bool {
        true
    }

    fn is_stale(&self) -> bool {
        false
    }
}
