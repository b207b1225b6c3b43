//! The pauses of single records after calls that failed. Pure.
//!
//! # Guarantees
//! - After a failure, a record isn't called for a second; after each further failure, for twice as long, up to two minutes.
//! - After a refusal it is called again after a second: soon the desired state may be another one.
//! - A change that succeeds ends all pauses. A read that succeeds ends only those of reads: it doesn't show that a
//!   failing change would succeed.
//! - A failure long after the last pause counts as the first one.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{CallKind, circuit::CallEnd};
use crate::environment::Now;

/// The first pause of a record.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// A record that isn't called now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paused {
    /// When it is called again.
    pub(super) again: Now,
    /// The failure.
    pub(super) last: Arc<str>,
}

/// The records of one primary in one system whose last call failed, by their tokens.
#[derive(Debug, Default)]
pub(super) struct Backoff(pub(super) BTreeMap<Box<str>, Pause>);

#[derive(Debug)]
pub(super) struct Pause {
    failures: u32,
    paused: Paused,
    /// Whether a change has failed, and none has succeeded since.
    of_change: bool,
}

impl Backoff {
    /// Whether the record may be called.
    pub(super) fn check(&self, record: &str, now: Now) -> Result<(), Paused> {
        match self.0.get(record) {
            Some(pause) if now < pause.paused.again => Err(pause.paused.clone()),
            _ => Ok(()),
        }
    }

    /// A call of the record has ended; `why` is the failure.
    pub(super) fn end(&mut self, record: &str, kind: CallKind, outcome: CallEnd, why: &Arc<str>, now: Now) {
        let before = self.0.get(record);
        if outcome == CallEnd::Answered {
            if before.is_some_and(|pause| kind.changes() || !pause.of_change) {
                self.0.remove(record);
            }
            return;
        }
        let lately = before.filter(|pause| now < pause.paused.again + LONGEST_PAUSE);
        let of_change = kind.changes() || lately.is_some_and(|pause| pause.of_change);
        let failures = match outcome {
            CallEnd::Failed => lately.map_or(0, |pause| pause.failures).saturating_add(1),
            CallEnd::Refused | CallEnd::Answered => 1,
        };
        let paused = Paused { again: now + delay(failures), last: Arc::clone(why) };
        self.0.insert(record.into(), Pause { failures, paused, of_change });
    }
}

fn delay(failures: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}
