//! The state of one primary.

use std::{sync::Arc, time::Duration};

use super::{RunId, ready::Ticket};
use crate::{
    environment::Now,
    observe::{Cause, Causes},
    processor::{KeyLimit, RetryState},
    resource::{Departed, Uid},
};

/// Everything that is kept about one primary. Created by the first change that is seen, dropped when the object is gone
/// and no run of it is in progress. JOSDK: `ResourceState`.
#[derive(Debug)]
pub(super) struct Record {
    /// The uid of the object seen last.
    pub(super) uid: Uid,
    /// Grows from record to record; a start serves them in this order.
    pub(super) arrival: u64,
    /// The phase of the object's life.
    pub(super) phase: Phase,
    /// Where its next run is.
    pub(super) state: RunState,
    /// The events that no run has seen yet; empty if nothing is pending. JOSDK's mark "event received".
    pub(super) pending: Causes,
    /// How the last run ended.
    pub(super) retry_status: RetryStatus,
    /// Retries since the last success; `None` when there was no failure since.
    pub(super) retry: Option<RetryState>,
    /// The same for failures of the server, which use up no attempt. Rare, and therefore kept elsewhere.
    pub(super) trouble: Option<Box<RetryState>>,
    /// Whether the last failure was followed by a run at once, because something had happened: the next failure waits
    /// for its delay, which slows down a failing run that causes events itself.
    pub(super) hurried: bool,
    /// The reschedule that the last success requested. After the last retry this is waited for, if it is shorter than
    /// the maximum interval: periodic work continues.
    pub(super) reschedule: Option<Duration>,
    /// The rate limit's state; made by the first submission.
    pub(super) rate: Option<Box<dyn KeyLimit>>,
    /// The pending end of the object. Rare, and therefore kept elsewhere.
    pub(super) end: Option<Box<End>>,
    /// Before this moment the server must not be called for this primary. Only a failed run sets it again, and none
    /// starts before.
    pub(super) not_before: Option<Now>,
}

/// The phase of an object's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It exists. Changes to `AwaitingDelete` when a run removes the finalizer, to `FoundGone` when a run finds the
    /// object gone, to `Deleted` when its end is seen during a run; when it is seen otherwise, the record is dropped.
    Live,
    /// The finalizer was removed, and only the end is awaited: events of others are ignored. Changes to `Live` when a
    /// new object appears, this one changes without being marked for deletion, or the maximum interval is over.
    /// `RunState::Idle`, or `RunState::Waiting` for the maximum interval.
    AwaitingDelete,
    /// A run found the object gone. The same, but any change of this object leads back to `Live`, including the mark
    /// for deletion: an event about the object counts for more than the finding of a run, which costs at most one run.
    FoundGone,
    /// It is gone, but its run is still in progress. Changes to `Live` when a new object appears before the run ends;
    /// otherwise the record is dropped with the run's end. Always `RunState::Running`.
    Deleted,
    /// It is gone, and a run has to see that; `Record::end` says more. Nothing leads back to `Live`: when that run has
    /// ended well, or no attempt is left, the record is dropped, or its successor's. In any `RunState`.
    Ended,
}

/// The end of a primary that a run has to see.
#[derive(Debug)]
pub(super) struct End {
    /// Its last state.
    pub(super) departed: Arc<Departed>,
    /// Another object with its name, which has appeared since: its turn comes when a run has seen the end of this one.
    pub(super) successor: Option<Successor>,
}

/// An object that no run has seen yet, because its predecessor of the same name isn't finished.
#[derive(Debug)]
pub(super) struct Successor {
    pub(super) uid: Uid,
    pub(super) arrival: u64,
    pub(super) pending: Causes,
}

/// Where the next run of a primary is: at most one of these, so a primary has one timer or one run or one place in the
/// queue, never two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// Nothing is planned, or the machine is stopped. Changes to `Queued` with an event or a start.
    Idle,
    /// A timer is set. Changes to `Queued` when it is due, or earlier with an event (except for the rate limit's
    /// timer).
    Waiting(Timer),
    /// Waits for a free place. Changes to `Running`.
    Queued(Ticket),
    /// A run is in progress. Changes to `Idle` with its end, and further from there.
    Running(InFlight),
}

/// A timer that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    /// When it is due.
    pub(super) deadline: Now,
    /// Distinguishes timers with the same deadline; those set earlier fire earlier.
    pub(super) seq: u64,
    /// Its purpose.
    pub(super) kind: TimerKind,
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerKind {
    /// The delay after a failure.
    Retry,
    /// The delay that the last run requested.
    Reschedule,
    /// The rate limit holds an event back, or the server has requested a pause.
    RateLimit,
    /// The longest time without a run.
    MaxInterval,
}

impl TimerKind {
    /// The cause of the run that this timer leads to; `None` for the rate limit, behind which other causes wait.
    pub(super) fn cause(self) -> Option<Cause> {
        match self {
            Self::Retry => Some(Cause::Retry),
            Self::Reschedule => Some(Cause::Reschedule),
            Self::MaxInterval => Some(Cause::MaxInterval),
            Self::RateLimit => None,
        }
    }
}

/// A run in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InFlight {
    /// Its id.
    pub(super) run: RunId,
    /// Its causes, with which it is due again if it is abandoned.
    pub(super) causes: Causes,
    /// Whether it runs for an object that has been replaced since: its outcome says nothing about the new one.
    pub(super) superseded: bool,
    /// Whether it saw that the object is gone.
    pub(super) of_end: bool,
}

/// How the last run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryStatus {
    /// Successfully, or there was none.
    Settled,
    /// With an error, and a retry follows.
    Retrying,
    /// With an error, and no retry is left. Waits for an event, the last reschedule or the maximum interval. Only a success
    /// leads back to `Settled`.
    Exhausted,
    /// With an error that a retry can't help. Waits for an event, the last reschedule or the maximum interval.
    Refused,
}

impl Record {
    /// A record of an object just seen.
    pub(super) fn new(uid: Uid, arrival: u64) -> Self {
        Self {
            uid,
            arrival,
            phase: Phase::Live,
            state: RunState::Idle,
            pending: Causes::NONE,
            retry_status: RetryStatus::Settled,
            retry: None,
            trouble: None,
            hurried: false,
            reschedule: None,
            rate: None,
            end: None,
            not_before: None,
        }
    }

    /// Forgets everything except the object itself, whose end is awaited, and why it is awaited.
    pub(super) fn expect_end(&mut self, phase: Phase) {
        *self = Self { phase, ..Self::new(self.uid.clone(), self.arrival) };
    }

    /// How long the server must still not be called.
    pub(super) fn patience(&self, now: Now) -> Duration {
        self.not_before.map_or(Duration::ZERO, |moment| moment.since(now))
    }

    /// Whether a run is in flight.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, RunState::Running(_))
    }

    /// Whether events lead to runs.
    pub(super) fn may_run(&self) -> bool {
        matches!(self.phase, Phase::Live | Phase::Ended)
    }

    /// Whether the run that was to see the end has failed for good: nothing follows, or a new object waits for its place.
    pub(super) fn gives_up(&self) -> bool {
        let Some(end) = &self.end else { return false };
        let failed = matches!(self.retry_status, RetryStatus::Exhausted | RetryStatus::Refused);
        let waits = matches!(self.state, RunState::Waiting(_));
        failed && self.pending.is_empty() && !self.is_running() && (end.successor.is_some() || !waits)
    }

    /// Whether a start causes a run.
    pub(super) fn is_marked(&self) -> bool {
        let free = match self.state {
            RunState::Idle => true,
            RunState::Waiting(timer) => timer.kind != TimerKind::RateLimit,
            RunState::Queued(_) | RunState::Running(_) => false,
        };
        self.may_run() && free && !self.pending.is_empty()
    }
}
