//! The visible state of a machine.

use super::{
    Machine,
    state::{RetryStatus, RunState, TimerKind},
};
use crate::{environment::Now, resource::ObjectKey};

/// The state of a machine in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of known primaries.
    pub keys: usize,
    /// The number of primaries that wait for a free place.
    pub queued: usize,
    /// The number of runs in progress.
    pub running: usize,
    /// The number of primaries with an event that no run has seen: the queued ones, those held back by the rate limit,
    /// those with an event during a run, and those that wait for [`super::Input::Start`], or for that of their
    /// namespace.
    pub pending: usize,
    /// The number of primaries whose last run failed and that have no retry left.
    pub exhausted: usize,
    /// When the timers of each kind are due next.
    pub due: Due,
    /// Whether runs may start.
    pub is_running: bool,
    /// The number of inputs so far.
    pub inputs: u64,
}

/// The earliest deadline of each kind of timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// A failed run is retried.
    pub retry: Option<Now>,
    /// A run that was requested by the one before.
    pub reschedule: Option<Now>,
    /// The rate limit, or the server's `Retry-After`, lets a waiting primary run.
    pub rate_limit: Option<Now>,
    /// A primary has not run for the maximum interval.
    pub max_interval: Option<Now>,
}

impl Due {
    /// The earliest deadline that causes work, without the maximum interval: apart from that, a machine that has
    /// nothing queued or running is quiet.
    #[must_use]
    pub fn next_work(&self) -> Option<Now> {
        [self.retry, self.reschedule, self.rate_limit].into_iter().flatten().min()
    }

    fn slot(&mut self, kind: TimerKind) -> &mut Option<Now> {
        match kind {
            TimerKind::Retry => &mut self.retry,
            TimerKind::Reschedule => &mut self.reschedule,
            TimerKind::RateLimit => &mut self.rate_limit,
            TimerKind::MaxInterval => &mut self.max_interval,
        }
    }
}

impl Machine {
    /// The machine's state in numbers. Visits every primary.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            keys: self.records.len(),
            queued: self.core.ready.len(),
            running: self.core.running,
            is_running: self.core.started,
            inputs: self.inputs,
            ..Snapshot::default()
        };
        for record in self.records.values() {
            snapshot.pending += usize::from(!record.pending.is_empty());
            snapshot.exhausted +=
                usize::from(matches!(record.retry_status, RetryStatus::Exhausted | RetryStatus::Refused));
            if let RunState::Waiting(timer) = record.state {
                let slot = snapshot.due.slot(timer.kind);
                *slot = Some(slot.map_or(timer.deadline, |earliest| earliest.min(timer.deadline)));
            }
        }
        snapshot
    }

    /// Whether another run of `key` follows without any further event: an event or a retry is pending. During a run:
    /// whether something has happened since it started. JOSDK: `isNextReconciliationImminent`.
    #[must_use]
    pub fn next_reconciliation_imminent(&self, key: &ObjectKey) -> bool {
        self.records.get(key).is_some_and(|record| {
            let retry_waits = record.retry_status == RetryStatus::Retrying && !record.is_running();
            record.may_run() && (!record.pending.is_empty() || retry_waits)
        })
    }

    /// Since when the primary that has waited longest for a free place has been waiting. Visits all that wait.
    #[must_use]
    pub fn oldest_waiting(&self) -> Option<Now> {
        self.core.ready.oldest()
    }

    /// The number of runs in progress.
    #[must_use]
    pub fn running(&self) -> usize {
        self.core.running
    }
}
