//! Another system whose records dependents manage: the limits of its calls, and whether it is down.
//!
//! ```text
//! node ──call──▶ is the record paused? ──▶ is the circuit open? ──▶ wait for a permit ──▶ the call, with a deadline
//!                      │ yes                    │ yes                                          │
//!                      ▼                        ▼                                              ▼
//!                an error that says       an error that says                 outcome ──▶ pause of the record,
//!                when it is called        since when it is down                         circuit of the system
//!                                               │
//!                                               └──▶ `/readyz`, by an event source of each controller that uses it
//! ```
//!
//! The pauses of records are in [`backoff`], the circuit is in [`circuit`]; both are pure.
//!
//! # Guarantees
//! - At most the limit of calls are in progress at the same time, for all nodes of all controllers that use the system.
//!   Waiting calls are let through in the order in which they came.
//! - The deadline of a call counts from its beginning, not from when it began to wait.
//! - A call that is dropped returns its permit, and counts as one without an answer.
//! - While the system is down, calls fail at once, including those that waited for a permit when it went down. Other nodes continue.
//! - The pauses of records are kept with their primary, and dropped with it.
//!
//! # Assumptions
//! - A call can be dropped at any await; the system may carry it out all the same.
//! - A call makes no other call of the same system: with a limit of one it would wait for itself.

mod backoff;
mod call;
mod circuit;
mod source;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};

use super::{DependentSource, Error};
use crate::{
    environment::{Clock, Now, WallClock},
    error::Permanent,
    event_source::ScopeSlot,
    observe::{SourceHealth, error_chain, with_sources},
    reconciler::BoxError,
};

use backoff::{Backoff, Paused};
pub(crate) use call::{CallError, CallKind, RecordId};
use circuit::{CallEnd, Circuit, Outage, Ticket};

#[cfg(feature = "testing")]
tokio::task_local! {
    /// Set in each call that the limits of a system have permitted: the other system of a test tells it from others.
    pub(crate) static PERMIT: ();
}

fn permitted<F: Future>(call: F) -> impl Future<Output = F::Output> {
    #[cfg(feature = "testing")]
    let call = PERMIT.scope((), call);
    call
}

const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);
const DEFAULT_CALLS_AT_ONCE: usize = 16;

/// Another system, such as a DNS server or a cloud: the limits of its calls, shared by all nodes that are given a clone.
///
/// A system that is slow or down delays only the nodes that need it. Each call has a deadline. After a failed call, its
/// record is not called again at once, but after pauses that grow up to two minutes. After five failures in a row, of
/// at least two records, the system counts as down: calls fail at once, one call at a time probes whether it is back, and
/// `/readyz` shows since when it is down, and why. None of this uses up attempts of a run.
///
/// A failure is a call without an answer in time, and any error except a refusal: an error that means that the system
/// won't do this for this record.
///
/// ```
/// use std::time::Duration;
/// use operator_core::dependent::System;
///
/// let dns = System::new("dns").deadline(Duration::from_secs(10)).calls_at_once(8);
/// let the_same = dns.clone();
/// ```
#[derive(Clone)]
pub struct System {
    deadline: Duration,
    shared: Arc<SystemState>,
}

struct SystemState {
    name: Arc<str>,
    permits: Semaphore,
    /// Set at the first call: a system is declared before there is an operator, and may be used by several operators.
    clock: OnceLock<Clock>,
    circuit: Mutex<Circuit>,
    /// The part that is kept with primaries.
    slot: ScopeSlot,
    /// It went down, is still down, or is back.
    changed: Notify,
}

impl System {
    /// A system with that name, which appears in messages and in `/readyz`; those of one controller need different
    /// names. A call may take 30 seconds, and 16 calls are made at the same time.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self::with(name.into(), DEFAULT_DEADLINE, DEFAULT_CALLS_AT_ONCE)
    }

    fn with(name: Arc<str>, deadline: Duration, calls_at_once: usize) -> Self {
        let permits = Semaphore::new(calls_at_once.clamp(1, Semaphore::MAX_PERMITS));
        let (clock, circuit, slot) = (OnceLock::new(), Mutex::default(), ScopeSlot::unique());
        let changed = Notify::new();
        Self { deadline, shared: Arc::new(SystemState { name, permits, clock, circuit, slot, changed }) }
    }

    /// How long a call may take before it counts as failed. The setting belongs to this handle and its clones, so
    /// one node can have more time than others.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How many calls may be in progress at the same time; at least one. The returned system shares nothing with former clones.
    #[must_use]
    pub fn calls_at_once(self, calls: usize) -> Self {
        Self::with(Arc::clone(&self.shared.name), self.deadline, calls)
    }

    /// The event source that reports its health. Each node that uses the system declares it; it triggers nothing.
    pub(crate) fn source(&self) -> DependentSource {
        DependentSource::shared(Arc::new(source::Health(self.clone())))
    }

    /// Whether a call of the record would be made now. For preparations that are in vain without the call.
    ///
    /// # Errors
    /// [`CallError::NotCalled`], with the reason, and the time of the next call.
    pub(crate) fn check(&self, record: RecordId<'_>, wall: &dyn WallClock) -> Result<(), CallError> {
        let now = self.now();
        let checked = self.obstacle(record, now);
        checked.map_err(|obstacle| self.not_called(obstacle, now, wall))
    }

    fn obstacle(&self, record: RecordId<'_>, now: Now) -> Result<(), Obstacle> {
        // An outage is the better reason.
        self.shared.circuit.lock().check(now).map_err(Obstacle::Down)?;
        let check = |backoff: &mut Backoff| backoff.check(record.token, now);
        record.scope.slot(self.shared.slot).look(check).unwrap_or(Ok(())).map_err(Obstacle::Paused)
    }

    /// Makes a call, if the limits allow it. `is_refusal` decides whether an error is a refusal by the system; an error
    /// that must not be retried counts as one anyway.
    ///
    /// # Errors
    /// If it isn't made, fails, or is refused.
    pub(crate) async fn call<T>(
        &self,
        record: RecordId<'_>,
        kind: CallKind,
        wall: &dyn WallClock,
        is_refusal: impl Fn(&BoxError) -> bool,
        call: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, CallError> {
        self.check(record, wall)?;
        // It is never closed.
        let _permit = self.shared.permits.acquire().await.ok();
        let in_progress = self.begin(record, kind, wall)?;
        let is_refusal =
            move |error: &BoxError| is_refusal(error) || with_sources(&**error).any(Permanent::is);
        match in_progress.answer(call, is_refusal).await.map_err(CallError::Failed)? {
            Ok(answer) => Ok(answer),
            Err((error, true)) => Err(CallError::Refused(error)),
            Err((source, false)) => {
                let (system, call) = (Arc::clone(&self.shared.name), kind.as_str());
                Err(CallError::Failed(Error::CallFailed { system, call, source }))
            }
        }
    }

    /// The state may have changed while the call waited.
    fn begin<'c>(
        &'c self,
        record: RecordId<'c>,
        kind: CallKind,
        wall: &dyn WallClock,
    ) -> Result<InProgress<'c>, CallError> {
        let now = self.now();
        let begin = || self.shared.circuit.lock().begin(now).map_err(Obstacle::Down);
        match self.obstacle(record, now).and_then(|()| begin()) {
            Ok(ticket) => {
                let token = record.token;
                Ok(InProgress { system: self, record: Some(record), token, kind, ticket, ended: false })
            }
            Err(obstacle) => Err(self.not_called(obstacle, now, wall)),
        }
    }

    /// Makes a call of a poll, which belongs to no run: with deadline, permit and circuit, but without pauses.
    ///
    /// # Errors
    /// If it isn't made, or fails.
    pub(crate) async fn poll<T>(
        &self,
        token: &str,
        call: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, BoxError> {
        let is_down = |_| format!("system `{}` is down", self.shared.name);
        self.shared.circuit.lock().check(self.now()).map_err(is_down)?;
        // It is never closed.
        let _permit = self.shared.permits.acquire().await.ok();
        let ticket = self.shared.circuit.lock().begin(self.now()).map_err(is_down)?;
        let kind = CallKind::Observe;
        let in_progress = InProgress { system: self, record: None, token, kind, ticket, ended: false };
        in_progress.answer(call, |_| false).await.map_err(Error::boxed)?.map_err(|(error, _)| error)
    }

    fn not_called(&self, obstacle: Obstacle, now: Now, wall: &dyn WallClock) -> CallError {
        let system = Arc::clone(&self.shared.name);
        let time = |at| time_of_day(at, now, wall);
        CallError::NotCalled(match obstacle {
            Obstacle::Paused(Paused { again, last }) => {
                Error::CallPaused { system, last, again: time(again) }
            }
            Obstacle::Down(outage) => {
                let again = outage.again().map(time);
                Error::SystemDown { system, since: time(outage.since), last: outage.last, again }
            }
        })
    }

    /// Whether it is down, and when that has to be checked again even without a call.
    fn told(&self, wall: &dyn WallClock) -> (SourceHealth, Option<Now>) {
        let now = self.now();
        let circuit = self.shared.circuit.lock();
        let Some((outage, until)) = circuit.down(now) else { return (SourceHealth::Healthy, None) };
        let (since, failures, last) = (time_of_day(outage.since, now, wall), outage.failures, &outage.last);
        let reason =
            format!("it is down since {since}: {failures} calls have failed, the last one with {last}");
        let again = match outage.again() {
            Some(again) => format!("it is called again at {}", time_of_day(again, now, wall)),
            None => "a call in progress probes whether it is back".to_owned(),
        };
        let advice = format!("its records don't change, and {again}");
        (SourceHealth::Unhealthy { reason, advice: Some(advice) }, Some(until))
    }

    /// Whether it is down.
    pub(crate) fn health(&self, wall: &dyn WallClock) -> SourceHealth {
        self.told(wall).0
    }

    fn clock(&self) -> &Clock {
        self.shared.clock.get_or_init(Clock::start)
    }

    fn now(&self) -> Now {
        self.clock().now()
    }
}

/// Why a call isn't made.
enum Obstacle {
    Paused(Paused),
    Down(Outage),
}

/// A call that has begun. A dropped call has no answer.
struct InProgress<'c> {
    system: &'c System,
    /// The record; `None` for a poll.
    record: Option<RecordId<'c>>,
    token: &'c str,
    kind: CallKind,
    ticket: Ticket,
    ended: bool,
}

impl InProgress<'_> {
    /// The answer, if it comes in time; or the error, and whether it is a refusal.
    async fn answer<T>(
        mut self,
        call: impl Future<Output = Result<T, BoxError>>,
        is_refusal: impl Fn(&BoxError) -> bool,
    ) -> Result<Result<T, (BoxError, bool)>, Error> {
        let deadline = self.system.deadline;
        let Ok(answer) = tokio::time::timeout(deadline, permitted(call)).await else {
            self.ends(CallEnd::Failed, &format!("no answer in {deadline:?}"));
            let system = Arc::clone(&self.system.shared.name);
            return Err(Error::NoAnswer { system, call: self.kind.as_str(), deadline });
        };
        let answer = answer.map_err(|error| {
            let is_refusal = is_refusal(&error);
            (error, is_refusal)
        });
        let (outcome, why) = match &answer {
            Ok(_) => (CallEnd::Answered, String::new()),
            Err((error, true)) => (CallEnd::Refused, error_chain(&**error)),
            Err((error, false)) => (CallEnd::Failed, error_chain(&**error)),
        };
        self.ends(outcome, &why);
        Ok(answer)
    }

    fn ends(&mut self, outcome: CallEnd, why: &str) {
        self.ended = true;
        let Self { system, record, token, kind, ticket, .. } = self;
        let now = system.now();
        let why: Arc<str> = match outcome {
            CallEnd::Answered => Arc::default(),
            CallEnd::Refused | CallEnd::Failed => format!("{}: {why}", kind.as_str()).into(),
        };
        if let Some(RecordId { scope, token }) = record {
            let scope = scope.slot(system.shared.slot);
            let end = |backoff: &mut Backoff| backoff.end(token, *kind, outcome, &why, now);
            match outcome {
                CallEnd::Answered => scope.look(end),
                CallEnd::Refused | CallEnd::Failed => scope.change(end),
            };
        }
        if system.shared.circuit.lock().end(ticket, token, outcome, &why, now) {
            system.shared.changed.notify_waiters();
        }
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let why =
                if std::thread::panicking() { "it panicked" } else { "it was dropped before an answer came" };
            self.ends(CallEnd::Failed, why);
        }
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("System");
        all.field("name", &self.shared.name).field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// A moment for people, in whole seconds, so it is the same in each message.
fn time_of_day(at: Now, now: Now, wall: &dyn WallClock) -> Timestamp {
    const SECOND: i128 = 1_000_000_000;
    let nanoseconds = |time: Now| i128::try_from(time.since_start().as_nanos()).unwrap_or(i128::MAX / 4);
    let time = wall.now().as_nanosecond() + nanoseconds(at) - nanoseconds(now);
    let second = i64::try_from((time + SECOND / 2).div_euclid(SECOND)).unwrap_or(i64::MAX);
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}
