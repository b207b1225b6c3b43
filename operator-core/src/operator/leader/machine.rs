//! Which replica leads: decided only by the content of the lease, and by when it was last seen to change.
//!
//! Pure: no task, no client, no clock.
//!
//! ```text
//!  ┌───────────┐  there is none, it was given back, or its time is over      answered in time  ┌─────────┐
//!  │ following │ ────────────────────────────────────▶ write ────────────────────────────────▶ │ leading │ ⟲ written again
//!  └───────────┘ ◀──────────────────────────────────────┘                                      └─────────┘   each period
//!    ⟲ read each period      conflict, no answer: read again                                        │
//!                                                        lost ◀── not renewed in time, taken, gone ──┘
//! ```
//!
//! # Guarantees
//! - Of any number of machines at most one has a valid term, at any moment: a term ends a renew deadline after its last
//!   write was *sent*; another begins only when the lease has not changed for a lease duration, which is longer, as
//!   seen by the machine that waits. All writes are bound to the version that was read.
//! - Times in the lease are written for people and never read: wall clocks may differ by any amount.
//! - A record that was not written by this machine belongs to another one, whatever name is in it: so two replicas with
//!   one name don't both lead, nor does the next process of a container while writes of the last one may be on their
//!   way.
//! - A lease that is gone counts as held for as long as one that has changed, for all machines that have seen it. Its
//!   holder stops.
//! - A machine that has not lost the lease continues forever: no failure, however long, ends its candidacy.
//!
//! # Assumptions
//! - Monotonic clocks run at nearly the same speed: a lease duration of one machine must be longer than a renew
//!   deadline of another.
//! - The lease isn't deleted at the same moment as a replica starts that has never seen it; nor is it deleted again
//!   within two retry periods of its creation.
//! - A lease isn't a fence at the server: a write that was sent within the term may arrive after it. The time between
//!   renew deadline and lease duration is for such writes.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{api::coordination::v1::LeaseSpec, apimachinery::pkg::apis::meta::v1::MicroTime};

use super::{
    LostLeadership,
    configuration::{LONGEST_LEASE_DURATION, Timing},
};
use crate::environment::Now;

/// The next action.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision {
    /// Nothing before this moment.
    Wait(Now),
    /// A request, which is abandoned at that moment.
    Ask(Request, Now),
    /// The leadership is lost.
    Lost(LostLeadership),
}

/// A request to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Read,
    /// With [`Machine::record`].
    Create,
    /// The same, in place of the version that was read or written last.
    Replace,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// The lease, as it is now.
    Lease(LeaseSpec),
    /// There is no lease.
    Absent,
    /// Another writer was faster.
    Conflict,
    /// Refused, or not answered: whether a write took effect is unknown.
    Failed,
}

/// One replica's part in the election.
#[derive(Debug)]
pub(super) struct Machine {
    identity: String,
    timing: Timing,
    /// As it was last seen; `None` if there was none, or nothing has been seen yet.
    lease: Option<LeaseSpec>,
    /// When it was last read.
    seen: Now,
    /// How long it was to be respected, if there has ever been one.
    respected: Option<Duration>,
    /// Until then another replica may believe that it holds the lease.
    held_until: Now,
    /// Whether a write can be based on the known lease.
    is_current: bool,
    /// When the next request is due.
    due: Now,
    /// The last conflict was answered by reading at once. A further one isn't: it is probably not just bad timing.
    has_hurried: bool,
    term: Option<Now>,
    lost: Option<LostLeadership>,
}

impl Machine {
    pub(super) fn new(identity: String, timing: Timing) -> Self {
        Self {
            identity,
            timing,
            lease: None,
            seen: Now::START,
            respected: None,
            held_until: Now::START,
            is_current: false,
            due: Now::START,
            has_hurried: false,
            term: None,
            lost: None,
        }
    }

    /// Until when this replica leads, if it does.
    pub(super) fn term(&self) -> Option<Now> {
        self.term
    }

    /// The name in the lease.
    pub(super) fn holder(&self) -> Option<&str> {
        self.lease.as_ref().and_then(holder)
    }

    /// What to do next.
    pub(super) fn next(&mut self, now: Now) -> Decision {
        self.end_if_over(now);
        if let Some(lost) = &self.lost {
            return Decision::Lost(lost.clone());
        }
        let until = self.term.unwrap_or(Now::at(Duration::MAX));
        if now < self.due {
            return Decision::Wait(self.due.min(until));
        }
        let request = match (self.is_current, &self.lease) {
            (false, _) => Request::Read,
            (true, None) => Request::Create,
            (true, Some(_)) => Request::Replace,
        };
        // Two attempts at least fit into a term, the second one perhaps on a connection that works.
        Decision::Ask(request, (now + self.timing.renew_deadline / 2).min(until))
    }

    /// Takes the answer to a request that was sent at that moment.
    pub(super) fn answered(&mut self, request: Request, sent: Now, answer: Reply, now: Now) {
        self.end_if_over(now);
        if self.lost.is_some() {
            return;
        }
        let next_attempt = now.max(sent + self.timing.retry_period);
        match (request, answer) {
            (Request::Read, Reply::Lease(lease)) => self.has_read(Some(lease), next_attempt, now),
            (Request::Read, Reply::Absent) => self.has_read(None, next_attempt, now),
            (_, Reply::Lease(lease)) => self.has_written(lease, sent, now),
            (Request::Replace, Reply::Absent) if self.term.is_some() => self.lose(LostLeadership::Deleted),
            (_, Reply::Conflict) if !self.has_hurried => {
                (self.is_current, self.has_hurried, self.due) = (false, true, now);
            }
            (_, Reply::Conflict | Reply::Failed | Reply::Absent) => {
                (self.is_current, self.has_hurried, self.due) = (false, false, next_attempt);
            }
        }
    }

    fn has_read(&mut self, lease: Option<LeaseSpec>, next_attempt: Now, now: Now) {
        if self.term.is_some() {
            match lease {
                None => self.lose(LostLeadership::Deleted),
                // An earlier write of our own whose answer was lost, or someone has changed something else. No other
                // replica with the same name can have taken it within the term.
                Some(lease) if holder(&lease) == Some(&self.identity) => {
                    (self.lease, self.is_current, self.due) = (Some(lease), true, now);
                }
                Some(lease) => {
                    self.lose(LostLeadership::Taken { by: holder(&lease).map(str::to_owned) });
                    self.lease = Some(lease);
                }
            }
            return;
        }
        if let Some(lease) = &lease {
            self.respected = Some(self.respected(lease));
            if self.lease.as_ref() != Some(lease) {
                let wait = if is_free(lease) { Duration::ZERO } else { self.respected(lease) };
                self.held_until = now + wait;
            }
        } else if let Some(respected) = self.respected
            && (self.lease.is_some() || now.since(self.seen) > 2 * self.timing.retry_period)
        {
            // Since it was last read, it may have had a holder who doesn't know yet that it is gone.
            self.held_until = now + respected;
        }
        self.seen = now;
        self.lease = lease;
        (self.is_current, self.due) = match now >= self.held_until {
            true => (true, now),
            false => (false, next_attempt.min(self.held_until)),
        };
    }

    fn has_written(&mut self, lease: LeaseSpec, sent: Now, now: Now) {
        let until = sent + self.timing.renew_deadline;
        self.lease = Some(lease);
        if now < until {
            self.term = Some(until);
            (self.is_current, self.has_hurried) = (true, false);
            self.due = now.max(sent + self.timing.retry_period);
        } else {
            // The answer is as old as a term is long. Others have waited during that time, so we do, too.
            self.held_until = now + self.timing.lease_duration;
            (self.is_current, self.due) = (false, now + self.timing.retry_period);
        }
    }

    fn end_if_over(&mut self, now: Now) {
        if self.term.is_some_and(|until| now >= until) {
            self.lose(LostLeadership::NotRenewed);
        }
    }

    fn lose(&mut self, lost: LostLeadership) {
        self.term = None;
        self.lost = Some(lost);
    }

    /// How long a lease that doesn't change is respected. No replica of an operator writes a longer time.
    fn respected(&self, lease: &LeaseSpec) -> Duration {
        match lease.lease_duration_seconds.map(u64::try_from) {
            Some(Ok(seconds)) => Duration::from_secs(seconds).min(LONGEST_LEASE_DURATION),
            Some(Err(_)) | None => self.timing.lease_duration,
        }
    }

    /// The lease as this replica writes it to hold it. Each record differs from the one before, whatever the wall clock
    /// says: a lease that doesn't change shows no sign of life.
    pub(super) fn record(&self, wall: Timestamp) -> LeaseSpec {
        let mut lease = self.lease.clone().unwrap_or_default();
        let mut time = micros(wall);
        if self.term.is_some() {
            let last = lease.renew_time.as_ref().map(|last| last.0.as_microsecond());
            time = time.max(last.map_or(i64::MIN, |last| last.saturating_add(1)));
        } else {
            lease.acquire_time = micro_time(time);
            let transitions = lease.lease_transitions.unwrap_or_default().saturating_add(1);
            lease.lease_transitions = Some(if self.lease.is_some() { transitions } else { 0 });
        }
        let seconds = self.timing.lease_duration.as_secs_f64().ceil();
        lease.lease_duration_seconds = Some(seconds as i32);
        lease.holder_identity = Some(self.identity.clone());
        lease.renew_time = micro_time(time);
        lease
    }

    /// The lease as this replica leaves it on release: free at once.
    pub(super) fn release(lease: LeaseSpec, wall: Timestamp) -> LeaseSpec {
        let renew_time = micro_time(micros(wall));
        let holder_identity = Some(String::new());
        LeaseSpec { holder_identity, renew_time, lease_duration_seconds: Some(RELEASED), ..lease }
    }
}

/// The duration in a released lease, in seconds: the shortest that the API server accepts.
const RELEASED: i32 = 1;

fn holder(lease: &LeaseSpec) -> Option<&str> {
    lease.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

/// It was never held, or its holder has released it. A name that was merely removed by hand is different: its owner has
/// not stopped yet.
fn is_free(lease: &LeaseSpec) -> bool {
    holder(lease).is_none() && lease.lease_duration_seconds.is_none_or(|seconds| seconds <= RELEASED)
}

fn micros(wall: Timestamp) -> i64 {
    wall.as_microsecond()
}

/// `None` for a time that can't be represented, thousands of years from now.
fn micro_time(micros: i64) -> Option<MicroTime> {
    Timestamp::from_microsecond(micros).ok().map(MicroTime)
}
