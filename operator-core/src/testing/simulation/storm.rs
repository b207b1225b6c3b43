//! Turns the choices of a tape into faults.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use http::request::Parts;
use parking_lot::RwLock;

use super::{
    Choices, FaultPlan,
    check::CRASH_POINT,
    leases::is_of_election,
    outside::CRASH_AT_CALL,
    record::ScheduleRecord,
    sweep::{Happens, Sweep},
};
use crate::testing::faults::{
    Cut, Director, Effect, End, Fault, LineFault, RequestTarget, StatusAnswer, Verb,
};

/// Decides with a tape what happens to each request and event.
pub(super) struct Storm {
    choices: Choices,
    pub(super) record: Arc<ScheduleRecord>,
    plan: RwLock<FaultPlan>,
    /// Twice the number of the write at which there is a crash, and one more for a crash after it.
    crash_point: u32,
    pub(super) sweep: Sweep,
    /// The moments of calls of other systems so far: each call has one before it and one after it.
    pub(super) moments: AtomicU64,
    /// The moment at which there is a crash, counted from 1.
    pub(super) crash_moment: u32,
    /// Only crashes happen to calls of other systems.
    pub(super) spares_calls: AtomicBool,
    writes: AtomicU64,
    pub(super) faults: AtomicU32,
    pub(super) crashes: AtomicU32,
    /// The classes of faults that this schedule doesn't use, one bit each.
    spared: AtomicU32,
}

/// The classes of faults that a storm may leave out. If everything goes wrong, many faults end what others have
/// started: a crash ends a silent watch.
#[derive(Clone, Copy)]
pub(super) enum Class {
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

/// A kind of fault, by the name under which it is counted.
type FaultKind = (&'static str, fn() -> Fault);

const WRITE_FAULTS: [FaultKind; 10] = [
    ("write: answer lost", || Fault::AnswerLost),
    ("write: done and answered 504", || Fault::StatusAfter(StatusAnswer::timeout())),
    ("write: refused", || Fault::Refused),
    ("write: answered 500", || Fault::Status(StatusAnswer::internal())),
    ("write: answered 429", || Fault::Status(StatusAnswer::too_many_requests(1))),
    ("write: answered 503", || Fault::Status(StatusAnswer::unavailable())),
    ("write: never sent", || Fault::Hang),
    ("write: done and never answered", || Fault::HangAfter),
    ("write: answered 404 without a name", || Fault::Status(StatusAnswer::not_served())),
    ("write: answered late", || Fault::DelayAnswer(Duration::from_secs(2))),
];

const READ_FAULTS: [FaultKind; 12] = [
    ("read: refused", || Fault::Refused),
    ("read: answer lost", || Fault::AnswerLost),
    ("read: answered 500", || Fault::Status(StatusAnswer::internal())),
    ("read: answered 429", || Fault::Status(StatusAnswer::too_many_requests(1))),
    ("read: answered 504", || Fault::Status(StatusAnswer::timeout())),
    ("read: never answered", || Fault::Hang),
    ("read: cut", || Fault::Cut(Cut::Bytes(60), End::Reset)),
    ("read: answered 410", || Fault::Status(StatusAnswer::gone())),
    ("read: cut as if complete", || Fault::Cut(Cut::Bytes(60), End::Clean)),
    ("read: answered 404 without a name", || Fault::Status(StatusAnswer::not_served())),
    // Reads are consistent, so that the server doesn't lie: what it said is old when it is heard.
    ("read: stale when it arrives", || Fault::DelayAnswer(Duration::from_secs(3))),
    ("read: very stale when it arrives", || Fault::DelayAnswer(Duration::from_secs(25))),
];

const WATCH_FAULTS: [FaultKind; 8] = [
    ("watch: refused", || Fault::Refused),
    ("watch: answered 500", || Fault::Status(StatusAnswer::internal())),
    ("watch: answered 429", || Fault::Status(StatusAnswer::too_many_requests(1))),
    ("watch: answered 410", || Fault::Status(StatusAnswer::gone())),
    ("watch: never answered", || Fault::Hang),
    ("watch: closed at once", || Fault::Cut(Cut::Lines(0), End::Clean)),
    ("watch: answered 404 without a name", || Fault::Status(StatusAnswer::not_served())),
    ("watch: reset after a line", || Fault::Cut(Cut::Lines(1), End::Reset)),
];

/// It takes two objects of one type.
pub(super) const SWAPPED: &str = "event: swapped with that of another object";

const EVENT_FAULTS: [(&str, LineFault); 10] = [
    ("event: twice", LineFault::Duplicate),
    ("event: watch closed", LineFault::Close(End::Clean)),
    ("event: watch reset", LineFault::Close(End::Reset)),
    ("event: 410", LineFault::Gone),
    ("event: waits for the next", LineFault::Hold(1)),
    ("event: late", LineFault::Delay(Duration::from_secs(1))),
    ("event: very late", LineFault::Delay(Duration::from_secs(20))),
    (SWAPPED, LineFault::Swap),
    // Longer than any watch is: a half-open connection.
    ("event: silence", LineFault::Delay(Duration::from_secs(600))),
    // As long as it takes until a version is compacted.
    ("event: silence, then 410", LineFault::SilentThenGone(Duration::from_secs(45))),
];

/// A fault that was to hide what the server had done, although the server had refused it.
const NOTHING_DONE: &str = "write: not done by the server either, and its answer wrong or late";

/// A late answer to a read whose content is still current.
const LATE: &str = "read: late, and not stale";

/// The kinds of faults that a request with this verb can meet.
pub(super) fn kinds_of(verb: Verb) -> &'static [FaultKind] {
    match verb {
        Verb::Watch => &WATCH_FAULTS,
        Verb::Get | Verb::List => &READ_FAULTS,
        _ => &WRITE_FAULTS,
    }
}

/// All kinds of faults that a storm knows, and the crashes.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    let crashes = ["crash: before a write", "crash: after a write"];
    let requests = WRITE_FAULTS.into_iter().chain(READ_FAULTS).chain(WATCH_FAULTS).map(|(kind, _)| kind);
    requests.chain(EVENT_FAULTS.into_iter().map(|(kind, _)| kind)).chain(crashes)
}

impl Storm {
    pub(super) fn new(choices: Choices, record: Arc<ScheduleRecord>, sweep: Sweep) -> Self {
        Self {
            moments: AtomicU64::new(0),
            crash_moment: choices.given(CRASH_AT_CALL),
            spares_calls: AtomicBool::new(false),
            crash_point: choices.given(CRASH_POINT),
            choices,
            record,
            plan: RwLock::new(FaultPlan::none()),
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
        // A third of all storms spare the other systems.
        let spares_calls = plan.is_storm() && self.choices.next("spared calls", 3) == 1;
        self.spares_calls.store(spares_calls, Ordering::Relaxed);
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
    pub(super) fn rare(
        &self,
        lane: &str,
        one_in: u32,
        n: usize,
        happened: &AtomicU32,
        most: u32,
    ) -> Option<usize> {
        if one_in == 0 || happened.load(Ordering::Relaxed) >= most {
            return None;
        }
        let kind = self.choices.rarely(lane, one_in, u32::try_from(n).unwrap_or(1)).checked_sub(1)?;
        happened.fetch_add(1, Ordering::Relaxed);
        usize::try_from(kind).ok()
    }

    pub(super) fn spares(&self, class: Class) -> bool {
        self.spared.load(Ordering::Relaxed) & (1 << class as u32) != 0
    }

    /// Counts a fault when it takes effect, and adds it to the story then.
    fn effect(&self, kind: &'static str, told: String) -> Effect {
        self.effect_if([kind, kind], told, |_, _| true)
    }

    /// The same for a fault that counts as one of the first kind only if `is_so` is true when it takes effect. `done` is
    /// whether the server has executed the request.
    fn effect_if(
        &self,
        [kind, otherwise]: [&'static str; 2],
        told: String,
        is_so: impl FnOnce(&ScheduleRecord, bool) -> bool + Send + Sync + 'static,
    ) -> Effect {
        let record = Arc::clone(&self.record);
        Effect::told(move |done| {
            let kind = if is_so(&record, done) { kind } else { otherwise };
            record.fault(kind, told);
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
        let after = match u64::from(self.crash_point / 2) == write {
            true => self.crash_point % 2 == 1,
            false => drawn? == 1,
        };
        let fault = if after { Fault::CrashAfter } else { Fault::Crash };
        let told = format!("{target}: {fault}");
        let effect = match after {
            true => self.effect_if(["crash: after a write", NOTHING_DONE], told, |_, done| done),
            false => self.effect("crash: before a write", told),
        };
        Some((fault, effect))
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
        let class = match target.verb {
            Verb::Watch => Class::Watches,
            Verb::Get | Verb::List => Class::Reads,
            _ => Class::Writes,
        };
        if self.spares(class) {
            return faults;
        }
        let (kinds, lane) =
            (kinds_of(target.verb), format!("request {} {}", target.verb.as_str(), target.resource));
        let drawn = self.rare(&lane, plan.request_one_in, kinds.len(), &self.faults, plan.most_faults);
        if let Some((kind, fault)) = drawn.map(|drawn| kinds[drawn]) {
            let fault = fault();
            let told = format!("{target}: {fault}");
            let effect = match (class, &fault) {
                (
                    Class::Writes,
                    Fault::AnswerLost | Fault::StatusAfter(_) | Fault::HangAfter | Fault::DelayAnswer(_),
                ) => self.effect_if([kind, NOTHING_DONE], told, |_, done| done),
                // It is stale only if something was written before its answer arrives.
                (Class::Reads, Fault::DelayAnswer(_)) => {
                    let (resource, read) = (target.resource.clone(), self.record.now());
                    self.effect_if([kind, LATE], told, move |record, _| {
                        record.with_calls(|calls| {
                            let later = calls.iter().rev().take_while(|call| call.at >= read);
                            later
                                .filter(|call| call.target.verb.is_write() && call.took_effect())
                                .any(|call| call.target.resource == resource)
                        })
                    })
                }
                _ => self.effect(kind, told),
            };
            faults.push((fault, effect));
        }
        faults
    }

    fn line(&self, watch: &RequestTarget, object: &RequestTarget) -> Option<(LineFault, Effect)> {
        let plan = self.plan();
        let lane = format!("event {}", watch.resource);
        let one_in = if self.spares(Class::Events) { 0 } else { plan.event_one_in };
        if let Some(drawn) = self.rare(&lane, one_in, EVENT_FAULTS.len(), &self.faults, plan.most_faults) {
            let (kind, fault) = EVENT_FAULTS[drawn];
            return Some((fault, self.effect(kind, format!("{object}: {fault}"))));
        }
        if plan.watch_lag.is_zero() {
            return None;
        }
        let lag = self.choices.next(&format!("lag {}", watch.resource), LAG_STEPS);
        (lag > 0).then(|| (LineFault::Delay(plan.watch_lag * lag / LAG_STEPS), Effect::Untold))
    }
}
