//! Transitions caused by the end of a run: JOSDK's `eventProcessingFinished`.

use std::time::Duration;

use super::{
    Effect, Machine, Outcome, RunId,
    core::Core,
    state::{Phase, Place, Record, RetryStatus, TimerKind},
};
use crate::{environment::Now, resource::ObjectKey};

/// When an event leads to a failing run inside a delay, and more than this is left of it, the rest of the delay is
/// waited for and no attempt is used up: frequent events don't burn the attempts of a long delay.
const KEEP_RETRY_DEADLINE_ABOVE: Duration = Duration::from_millis(5000);

impl Machine {
    /// A run has ended.
    pub(super) fn finished(
        &mut self,
        run: RunId,
        key: ObjectKey,
        outcome: Outcome,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let Some(record) = self.records.get_mut(&key) else { return };
        let Place::Running(flight) = record.place else { return };
        if flight.run != run {
            return;
        }
        let core = &mut self.core;
        core.running -= 1;
        record.place = Place::Idle;
        if record.phase == Phase::Deleted {
            self.records.remove(&key);
            effects.push(Effect::Forgotten { key });
            return;
        }
        if flight.superseded {
            // The new object's own event is pending since it was seen.
            core.submit(&key, record, now, effects);
            return;
        }
        if let Outcome::Failed { not_before, .. } = outcome {
            record.not_before = not_before;
        }
        match outcome {
            Outcome::Success { reschedule } => core.succeeded(&key, record, reschedule, now, effects),
            Outcome::FinalizerRemoved => record.expect_end(),
            Outcome::Gone => {
                // Only its end is missing here. Should the run have been told wrong, the maximum interval ends the wait.
                record.expect_end();
                core.wait_for_max_interval(&key, record, now);
            }
            Outcome::Failed { retryable: false, .. } => {
                record.retry_status = RetryStatus::Refused;
                core.settle(&key, record, now, effects);
            }
            Outcome::Failed { retryable: true, handled, .. } => {
                core.failed(&key, record, handled, now, effects);
            }
            Outcome::Abandoned if !core.started || run.0 < core.first_run_since_start => {
                record.pending.extend(flight.causes);
                core.submit(&key, record, now, effects);
            }
            Outcome::Abandoned => core.failed(&key, record, false, now, effects),
        }
    }
}

impl Core {
    fn succeeded(
        &mut self,
        key: &ObjectKey,
        record: &mut Record,
        reschedule: Option<Duration>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        record.retry = None;
        record.retry_status = RetryStatus::Settled;
        match reschedule {
            Some(delay) if record.pending.is_empty() => {
                self.wait(key, record, TimerKind::Reschedule, delay, now);
            }
            _ => self.settle(key, record, now, effects),
        }
    }

    /// Serves a pending event, else waits for the maximum interval.
    fn settle(&mut self, key: &ObjectKey, record: &mut Record, now: Now, effects: &mut Vec<Effect>) {
        if record.pending.is_empty() {
            self.wait_for_max_interval(key, record, now);
        } else {
            self.submit(key, record, now, effects);
        }
    }

    fn failed(
        &mut self,
        key: &ObjectKey,
        record: &mut Record,
        handled: bool,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let state = record.retry.get_or_insert_with(|| self.config.retry.begin());
        record.retry_status = RetryStatus::Retrying;
        if !record.pending.is_empty() {
            // What happened meanwhile may be what the run needed. The run that serves it has seen it, so that a further
            // failure takes the delay.
            self.submit(key, record, now, effects);
            return;
        }
        let rest = state.remaining(now).filter(|rest| *rest > KEEP_RETRY_DEADLINE_ABOVE);
        let Some(after) = rest.or_else(|| self.config.retry.next_delay(state, now)) else {
            record.retry_status = RetryStatus::Exhausted;
            self.wait_for_max_interval(key, record, now);
            effects.push(Effect::RetriesExhausted { key: key.clone(), handled });
            return;
        };
        let attempt = state.attempt;
        let after = after.max(record.patience(now));
        self.wait(key, record, TimerKind::Retry, after, now);
        effects.push(Effect::RetryScheduled { key: key.clone(), attempt, after });
    }
}
