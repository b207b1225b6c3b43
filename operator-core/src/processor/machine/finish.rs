//! Transitions caused by the end of a run: JOSDK's `eventProcessingFinished`.

use std::time::Duration;

use super::{
    Effect, FailureKind, Machine, Outcome, Reschedule, RunId,
    core::Core,
    state::{Phase, Record, RetryStatus, RunState, Successor, TimerKind},
};
use crate::{processor::retry::LONGEST_DELAY, resource::ObjectKey};

/// If an event causes a run within a retry delay, that run fails, and more than this is left of the delay, the rest of
/// the delay is waited for and no attempt is used up: frequent events don't use up the attempts of a long delay.
const KEEP_RETRY_DEADLINE_ABOVE: Duration = Duration::from_millis(5000);

/// The largest part of a delay by which it is randomly changed.
const SPREAD: f64 = 0.1;

impl Machine {
    /// A run has ended.
    pub(super) fn finished(&mut self, run: RunId, key: ObjectKey, outcome: Outcome) {
        let Some(record) = self.records.get_mut(&key) else { return };
        let RunState::Running(flight) = record.state else { return };
        if flight.run != run {
            return;
        }
        let core = &mut self.core;
        core.running -= 1;
        record.state = RunState::Idle;
        if record.phase == Phase::Deleted {
            self.records.remove(&key);
            core.effects.push(Effect::Forgotten(key));
            return;
        }
        if flight.superseded {
            // The new object's own event is pending since it was seen.
            core.submit(&key, record);
            return;
        }
        if let Outcome::Failed { not_before, .. } = outcome {
            record.not_before = not_before;
        }
        let seen = !matches!(outcome, Outcome::Failed { .. } | Outcome::Abandoned);
        if flight.of_end && seen {
            self.end(&key);
            return;
        }
        match outcome {
            // The run began before the end, which the next run sees.
            _ if record.phase == Phase::Ended && seen => core.succeeded(&key, record, None),
            Outcome::Success { reschedule } => core.succeeded(&key, record, reschedule),
            // Only its end is missing here. If the run was wrong, the maximum interval ends the wait.
            Outcome::FinalizerRemoved | Outcome::Gone => {
                let removed = outcome == Outcome::FinalizerRemoved;
                record.expect_end(if removed { Phase::AwaitingDelete } else { Phase::FoundGone });
                core.wait_for_max_interval(&key, record);
            }
            Outcome::Failed { kind, again, .. } => core.failed(&key, record, (kind, again)),
            Outcome::Abandoned if core.opening.is_none() => record.pending.extend(flight.causes),
            Outcome::Abandoned => core.failed(&key, record, (FailureKind::Retryable, None)),
        }
        if record.gives_up() {
            self.end(&key);
        }
    }

    /// A run has seen the end of a primary, or none will: its data is dropped, and its successor has its turn.
    fn end(&mut self, key: &ObjectKey) {
        let Some(record) = self.records.get_mut(key) else { return };
        self.core.leave(key, record);
        self.core.effects.push(Effect::Forgotten(key.clone()));
        let Some(Successor { uid, arrival, pending }) = record.end.take().and_then(|end| end.successor)
        else {
            self.records.remove(key);
            return;
        };
        *record = Record { pending, ..Record::new(uid, arrival) };
        self.core.effects.push(Effect::Added(key.clone()));
        self.core.submit(key, record);
    }
}

impl Core {
    fn succeeded(&mut self, key: &ObjectKey, record: &mut Record, reschedule: Option<Reschedule>) {
        record.retry = None;
        record.trouble = None;
        record.hurried = false;
        record.reschedule = reschedule.map(Reschedule::delay);
        record.retry_status = RetryStatus::Settled;
        if !record.pending.is_empty() {
            self.submit(key, record);
        } else if let Some(Reschedule::After(delay)) = reschedule {
            self.wait_for_reschedule(key, record, delay, None);
        } else {
            self.wait_for_last_resort(key, record, record.reschedule);
        }
    }

    fn failed(
        &mut self,
        key: &ObjectKey,
        record: &mut Record,
        (kind, again): (FailureKind, Option<Duration>),
    ) {
        record.retry_status = RetryStatus::Retrying;
        let begin = || self.config.retry.begin();
        match kind {
            FailureKind::Permanent => record.retry_status = RetryStatus::Refused,
            FailureKind::Retryable => {
                record.retry.get_or_insert_with(begin);
            }
            FailureKind::Server | FailureKind::Outside => {
                record.trouble.get_or_insert_with(|| Box::new(begin()));
            }
        }
        if !record.pending.is_empty() && !record.hurried {
            // The events during the failed run may have brought what it needed. The next run has seen them. After a
            // further failure the delay applies, even if more has happened: perhaps the run itself causes it.
            record.hurried = true;
            self.submit(key, record);
            return;
        }
        record.hurried = false;
        if let Some(after) = self.delay_after(record, kind) {
            let after = after.max(record.patience(self.now));
            self.wait(key, record, TimerKind::Retry, after);
            let counted = record.retry.filter(|_| kind == FailureKind::Retryable);
            let attempt = counted.map(|state| state.attempt);
            self.effects.push(Effect::RetryScheduled { key: key.clone(), attempt, after });
        } else if record.pending.is_empty() {
            self.wait_for_last_resort(key, record, again.or(record.reschedule));
            if kind == FailureKind::Retryable {
                record.retry_status = RetryStatus::Exhausted;
                self.effects.push(Effect::RetriesExhausted(key.clone()));
            }
        } else {
            if kind == FailureKind::Retryable {
                record.retry_status = RetryStatus::Exhausted;
            }
            // No attempt is left for the failure, but the events still have to be served.
            let last =
                record.retry.map_or_else(|| self.config.retry.begin().interval, |state| state.interval);
            self.wait(key, record, TimerKind::RateLimit, last);
        }
    }

    /// When a failed run is retried; `None` if no attempt is left, or none can help.
    fn delay_after(&self, record: &mut Record, kind: FailureKind) -> Option<Duration> {
        let policy = &self.config.retry;
        let state = match kind {
            FailureKind::Permanent => return None,
            FailureKind::Retryable => record.retry.as_mut()?,
            FailureKind::Server | FailureKind::Outside => record.trouble.as_deref_mut()?,
        };
        let rest = state.remaining(self.now).filter(|rest| *rest > KEEP_RETRY_DEADLINE_ABOVE);
        if rest.is_some() {
            return rest;
        }
        if kind == FailureKind::Retryable {
            let share = self.config.spread.min(SPREAD);
            return policy.next_delay(state, self.now).map(|delay| self.config.at_least(delay, share));
        }
        let delay = policy.server_delay(state, self.now).min(LONGEST_DELAY);
        Some(self.config.at_most(delay, SPREAD))
    }

    /// Waits for this time or the maximum interval, whichever is shorter, and never longer than the interval.
    fn wait_for_last_resort(&mut self, key: &ObjectKey, record: &mut Record, again: Option<Duration>) {
        let longest = self.config.max_reconciliation_interval;
        match again.filter(|delay| longest.is_none_or(|longest| *delay < longest)) {
            Some(delay) => self.wait_for_reschedule(key, record, delay, longest),
            None => self.wait_for_max_interval(key, record),
        }
    }
}
