//! Whether another system is down as a whole. Pure.
//!
//! ```text
//!             5 failures in a row, of two records at least
//!   ┌────────┐ ──────────────────────────────────────────▶ ┌──────┐ ◀──────┐
//!   │ closed │                                             │ open │        │ it fails: twice the pause
//!   └────────┘ ◀──────────── any answer ────────────────── └──────┘        │
//!        ▲                                                     │ pause is over, next call
//!        │                                                     ▼           │
//!        └──────────────────── an answer ──────────────── ┌─────────┐ ─────┘
//!                                                         │ probing │
//!                                                         └─────────┘
//! ```
//!
//! # Guarantees
//! - Nothing is refused before that many calls in a row have failed, of at least two different records. One record that
//!   the system can't handle says nothing about the others; its own pauses are in [`backoff`](super::backoff).
//! - While it is open, one call at a time is let through, at most one in each pause.
//! - Any answer closes it, including an answer to a call that began before it opened, and a refusal: a system that refuses works.
//! - Once a pause is over, the next call is let through, unless another call is already probing.
//! - An outage is no longer reported if there has been no call for long: perhaps nothing needs the system any more.
//!
//! # Assumptions
//! - `now` never goes back from call to call, and each [`Ticket`] comes back.

use std::{sync::Arc, time::Duration};

use crate::environment::Now;

/// The number of failures in a row that open the circuit.
pub(super) const FAILURES: u32 = 5;
/// How long it stays open at first; twice as long after each failed probe.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest time without a probe. Below the longest pause of a record; otherwise a record that always fails
/// could be the only one that is called in time.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long an outage is reported after the moment at which the system could be tried again. Failed runs are repeated within five minutes.
pub(super) const TOLD_FOR: Duration = Duration::from_secs(600);

/// How a call of another system ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEnd {
    /// With a result.
    Answered,
    /// The system refused, for reasons of this record.
    Refused,
    /// Without an answer, or with one that says nothing about the record.
    Failed,
}

/// The permission to call. It is returned with the outcome.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the circuit waits for the outcome"]
pub(super) struct Ticket {
    /// The number of the probe, for a call that finds out whether the system is back.
    probe: Option<u64>,
}

/// The circuit of one system. Closed at first.
#[derive(Debug, Default)]
pub(super) struct Circuit {
    row: Option<Row>,
    outage: Option<Outage>,
    probes: u64,
}

/// Failures without an answer in between.
#[derive(Debug)]
struct Row {
    since: Now,
    failures: u32,
    /// The record of the first failure.
    record: Box<str>,
    /// Whether another record failed, too.
    several: bool,
}

/// What is known about an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outage {
    /// When the first of the failures in a row was.
    pub(super) since: Now,
    /// How many calls have failed since.
    pub(super) failures: u32,
    /// The last failure.
    pub(super) last: Arc<str>,
    pause: Duration,
    again: Now,
    probe: Option<u64>,
}

impl Outage {
    /// When the system is called again; `None` while a call in progress is the probe.
    pub(super) fn again(&self) -> Option<Now> {
        self.probe.is_none().then_some(self.again)
    }
}

impl Circuit {
    /// Whether a call would be let through now.
    pub(super) fn check(&self, now: Now) -> Result<(), Outage> {
        match &self.outage {
            Some(outage) if outage.probe.is_some() || now < outage.again => Err(outage.clone()),
            _ => Ok(()),
        }
    }

    /// A call is about to be made.
    pub(super) fn begin(&mut self, now: Now) -> Result<Ticket, Outage> {
        self.check(now)?;
        let Some(outage) = &mut self.outage else { return Ok(Ticket { probe: None }) };
        self.probes += 1;
        outage.probe = Some(self.probes);
        Ok(Ticket { probe: outage.probe })
    }

    /// A call has ended; `why` is the failure. Returns whether the system went down, is still down, or is back.
    pub(super) fn end(
        &mut self,
        ticket: &Ticket,
        record: &str,
        outcome: CallEnd,
        why: &Arc<str>,
        now: Now,
    ) -> bool {
        if outcome != CallEnd::Failed {
            self.row = None;
            return self.outage.take().is_some();
        }
        let Some(outage) = &mut self.outage else { return self.failed(record, why, now) };
        outage.failures = outage.failures.saturating_add(1);
        if ticket.probe.is_none() || ticket.probe != outage.probe {
            // It began before the outage, or in an earlier one: its failure is already known.
            return false;
        }
        outage.last = Arc::clone(why);
        outage.pause = (outage.pause * 2).min(LONGEST_PAUSE);
        outage.again = now + outage.pause;
        outage.probe = None;
        true
    }

    fn failed(&mut self, record: &str, why: &Arc<str>, now: Now) -> bool {
        let first = || Row { since: now, failures: 0, record: record.into(), several: false };
        let row = self.row.get_or_insert_with(first);
        row.failures = row.failures.saturating_add(1);
        row.several |= *row.record != *record;
        let Row { since, failures, several, .. } = *row;
        if failures < FAILURES || !several {
            return false;
        }
        self.row = None;
        let (last, pause, again) = (Arc::clone(why), FIRST_PAUSE, now + FIRST_PAUSE);
        self.outage = Some(Outage { since, failures, last, pause, again, probe: None });
        true
    }

    /// The outage, and until when it is reported unless the system is tried before.
    pub(super) fn down(&self, now: Now) -> Option<(&Outage, Now)> {
        let outage = self.outage.as_ref()?;
        let until = outage.again + TOLD_FOR;
        (outage.probe.is_some() || now < until).then_some((outage, until))
    }
}
