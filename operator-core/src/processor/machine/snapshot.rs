//! What can be seen of a machine from outside.

use super::{
    Machine,
    state::{Phase, Place, RetryStatus, TimerKind},
};
use crate::{environment::Now, resource::ObjectKey};

/// The state of a machine in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Primaries that are known.
    pub keys: usize,
    /// Primaries that wait for a free place.
    pub queued: usize,
    /// Runs in flight.
    pub running: usize,
    /// Primaries with an event that no run has seen: the queued ones, those held back by the rate limit, those whose
    /// event came during a run, and those that wait for [`super::Input::Start`], or for that of their namespace.
    pub pending: usize,
    /// Primaries whose last run failed and that have no retry to come.
    pub exhausted: usize,
    /// When the timers of each kind are due next.
    pub due: Due,
    /// Whether runs may be handed out.
    pub is_running: bool,
    /// How many inputs there have been.
    pub inputs: u64,
}

/// The earliest deadline of each kind of timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// A failed run is tried again.
    pub retry: Option<Now>,
    /// A run was asked for by the one before.
    pub reschedule: Option<Now>,
    /// The rate limit, or a server that asked for patience, lets a waiting primary go.
    pub rate_limit: Option<Now>,
    /// A primary has not run for the maximum interval.
    pub max_interval: Option<Now>,
}

impl Due {
    /// The earliest deadline behind which there is work, the maximum interval not counted: without it, a machine that
    /// has nothing queued and running is quiet.
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
    /// The machine's state in numbers. Looks at every primary.
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
            if let Place::Waiting(timer) = record.place {
                let slot = snapshot.due.slot(timer.kind);
                *slot = Some(slot.map_or(timer.deadline, |earliest| earliest.min(timer.deadline)));
            }
        }
        snapshot
    }

    /// Whether another run of `key` is to come without anything else happening: an event is pending, or a retry.
    /// During a run: whether something has happened since it began. JOSDK: `isNextReconciliationImminent`.
    #[must_use]
    pub fn next_reconciliation_imminent(&self, key: &ObjectKey) -> bool {
        self.records.get(key).is_some_and(|record| {
            let retry_waits = record.retry_status == RetryStatus::Retrying && !record.is_running();
            record.phase == Phase::Live && (!record.pending.is_empty() || retry_waits)
        })
    }

    /// How many runs are in flight.
    #[must_use]
    pub fn running(&self) -> usize {
        self.core.running
    }
}
