//! The steps of all transitions. They see one record and everything that isn't a record: an
//! event costs a single look into the map of records.

use std::{collections::HashMap, sync::Arc, time::Duration};

use super::{
    Effect, MachineConfig, Run, RunId,
    gate::Gate,
    ready::Ready,
    state::{InFlight, Record, RunState, Timer, TimerKind},
    timers::Timers,
};
use crate::{
    environment::Now,
    observe::{Cause, Causes},
    processor::{Admission, RetryInfo},
    resource::ObjectKey,
};

/// The rate limit is evaluated again after this time at the earliest.
const SHORTEST_RATE_LIMIT_WAIT: Duration = Duration::from_millis(50);

/// The machine without its records.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: MachineConfig,
    pub(super) ready: Ready,
    pub(super) timers: Timers,
    /// Whether runs may start.
    pub(super) started: bool,
    /// The number of the opening that may let runs start; `None` after a stop.
    pub(super) opening: Option<u64>,
    /// The primaries whose runs may start.
    pub(super) gate: Gate,
    /// Runs in flight.
    pub(super) running: usize,
    /// The id of the next run.
    pub(super) next_run: u64,
    /// When the input came that is being taken in.
    pub(super) now: Now,
    /// The effects of that input.
    pub(super) effects: Vec<Effect>,
}

impl Core {
    /// Records an event of a living primary and plans its run. The hot path.
    pub(super) fn note(&mut self, key: &ObjectKey, record: &mut Record, cause: Cause) {
        record.pending.insert(cause);
        match record.state {
            RunState::Running(_) | RunState::Waiting(Timer { kind: TimerKind::RateLimit, .. }) => {}
            RunState::Queued(ticket) => {
                record.state = RunState::Queued(self.ready.promote(ticket, record.pending))
            }
            RunState::Idle | RunState::Waiting(_) => self.submit(key, record),
        }
    }

    /// Whether runs of the primary may start.
    pub(super) fn starts(&self, key: &ObjectKey) -> bool {
        self.started && self.gate.lets(key)
    }

    /// Queues a living primary with something pending, or lets it wait for the rate limit, or for the time that a
    /// server has requested (`Retry-After`). While the machine is stopped, or the primary's namespace is not started,
    /// nothing happens: what is pending stays. JOSDK's `submitReconciliationExecution`.
    pub(super) fn submit(&mut self, key: &ObjectKey, record: &mut Record) {
        if !self.starts(key) {
            return;
        }
        self.leave(key, record);
        let patience = record.patience(self.now);
        if !patience.is_zero() {
            // As with the rate limit, further events wait too: a run that can't write is of no use to them.
            self.wait(key, record, TimerKind::RateLimit, patience);
            return;
        }
        if let Some(limiter) = &self.config.rate_limiter {
            let limit = record.rate.get_or_insert_with(|| limiter.for_key(self.now));
            if let Admission::Wait(wait) = limit.admit(self.now) {
                self.wait(key, record, TimerKind::RateLimit, wait.max(SHORTEST_RATE_LIMIT_WAIT));
                return;
            }
        }
        record.state = RunState::Queued(self.ready.push(key.clone(), record.pending, self.now));
        let attempt = record.retry.map_or(0, |retry| retry.attempt);
        self.effects.push(Effect::Submitted { key: key.clone(), attempt });
    }

    /// Sets the one timer of an idle primary.
    pub(super) fn wait(&mut self, key: &ObjectKey, record: &mut Record, kind: TimerKind, delay: Duration) {
        record.state = RunState::Waiting(self.timers.set(key.clone(), kind, delay, self.now));
    }

    /// Sets the timer of a requested run: never too early, because the caller relies on the full delay, and not later than
    /// `longest`.
    pub(super) fn wait_for_reschedule(
        &mut self,
        key: &ObjectKey,
        record: &mut Record,
        delay: Duration,
        longest: Option<Duration>,
    ) {
        let delay = self.config.at_least(delay, self.config.spread).min(longest.unwrap_or(Duration::MAX));
        self.wait(key, record, TimerKind::Reschedule, delay);
    }

    /// Sets the timer of the maximum interval, if there is one: never too late, as it is a maximum.
    pub(super) fn wait_for_max_interval(&mut self, key: &ObjectKey, record: &mut Record) {
        if let Some(interval) = self.config.max_reconciliation_interval {
            let interval = self.config.at_most(interval, self.config.spread);
            self.wait(key, record, TimerKind::MaxInterval, interval);
        }
    }

    /// Removes a primary's timer or its place in the queue; a run in progress stays.
    pub(super) fn leave(&mut self, key: &ObjectKey, record: &mut Record) {
        match record.state {
            RunState::Idle | RunState::Running(_) => return,
            RunState::Waiting(timer) => self.timers.cancel(timer),
            RunState::Queued(ticket) => {
                self.ready.remove(ticket);
                self.effects.push(Effect::Withdrawn(key.clone()));
            }
        }
        record.state = RunState::Idle;
    }

    /// Starts runs while there is a free place and a primary waits.
    pub(super) fn hand_out(&mut self, records: &mut HashMap<ObjectKey, Record>) {
        while self.started && self.running < self.config.max_concurrent.max(1) {
            let Some(key) = self.ready.pop() else { return };
            let Some(record) = records.get_mut(&key) else { continue };
            debug_assert!(
                record.may_run(),
                "only living primaries are queued, and ends that a run has to see"
            );
            let run = RunId(self.next_run);
            self.next_run += 1;
            self.running += 1;
            let causes = std::mem::replace(&mut record.pending, Causes::NONE);
            record.state =
                RunState::Running(InFlight { run, causes, superseded: false, of_end: record.end.is_some() });
            let retry = record.retry.map(|state| RetryInfo {
                attempt: state.attempt,
                last_attempt: self.config.retry.is_last(&state),
            });
            let departed = record.end.as_ref().map(|end| Arc::clone(&end.departed));
            let run = Run { id: run, key, uid: record.uid.clone(), causes, retry, departed };
            self.effects.push(Effect::Run(run));
        }
    }
}
