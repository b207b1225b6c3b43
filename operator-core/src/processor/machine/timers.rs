//! All timers of a machine, by deadline.

use std::{collections::BTreeMap, time::Duration};

use super::state::{Timer, TimerKind};
use crate::{environment::Now, resource::ObjectKey};

/// The timers that are set. Each belongs to one record, which knows its deadline and its number.
#[derive(Debug, Default)]
pub(super) struct Timers {
    by_deadline: BTreeMap<(Now, u64), ObjectKey>,
    /// The number of the next timer to be set: all that are set now have a smaller one.
    pub(super) next: u64,
}

impl Timers {
    /// Sets a timer. One whose delay is too long to be represented is never due.
    pub(super) fn set(&mut self, key: ObjectKey, kind: TimerKind, delay: Duration, now: Now) -> Timer {
        let timer = Timer { deadline: now + delay, seq: self.next, kind };
        self.next += 1;
        self.by_deadline.insert((timer.deadline, timer.seq), key);
        timer
    }

    /// Cancels a timer.
    pub(super) fn cancel(&mut self, timer: Timer) {
        self.by_deadline.remove(&(timer.deadline, timer.seq));
    }

    /// Takes the first timer that is due, if it was set before `mark`. The mark keeps a tick finite even if what it
    /// fires sets timers that are due at once.
    pub(super) fn pop_due(&mut self, now: Now, mark: u64) -> Option<ObjectKey> {
        let first = self.by_deadline.first_entry()?;
        let (deadline, seq) = *first.key();
        (deadline <= now && seq < mark).then(|| first.remove())
    }

    /// The earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<Now> {
        self.by_deadline.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}
