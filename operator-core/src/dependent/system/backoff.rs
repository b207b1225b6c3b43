//! The pauses of single records after calls that failed. Pure.
//!
//! # Guarantees
//! - After a failure a record isn't called for a second, after each further one for twice as long, up to two minutes.
//! - After a refusal it is called again after a second: what was refused is wanted differently soon, or not at all.
//! - A change that is answered ends the pauses. A read that is answered ends only those of reads: what fails each time is the
//!   change, after a read that goes well.
//! - A failure long after the pause of the last one counts as the first.
//! - Nothing is kept about a primary after [`Backoff::forget`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{CallKind, RecordId, circuit::Outcome};
use crate::{environment::Now, resource::ObjectKey};

/// The first pause of a record.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest one.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// A record that isn't called now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paused {
    /// When it is called again.
    pub(super) again: Now,
    /// What went wrong.
    pub(super) last: Arc<str>,
}

/// The records of one system whose last call failed.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    pub(super) controllers: BTreeMap<Box<str>, ByPrimary>,
}

type ByPrimary = BTreeMap<ObjectKey, BTreeMap<Box<str>, Pause>>;

#[derive(Debug)]
pub(super) struct Pause {
    failures: u32,
    paused: Paused,
    /// Whether a change has failed, and none was answered since.
    of_change: bool,
}

impl Backoff {
    /// Whether the record may be called.
    pub(super) fn check(&self, record: RecordId<'_>, now: Now) -> Result<(), Paused> {
        match self.get(record) {
            Some(pause) if now < pause.paused.again => Err(pause.paused.clone()),
            _ => Ok(()),
        }
    }

    /// A call of the record has ended; `why` says what went wrong.
    pub(super) fn end(
        &mut self,
        record: RecordId<'_>,
        kind: CallKind,
        outcome: Outcome,
        why: &Arc<str>,
        now: Now,
    ) {
        let before = self.get(record);
        if outcome == Outcome::Answered {
            if before.is_some_and(|pause| kind.changes() || !pause.of_change) {
                self.remove(record);
            }
            return;
        }
        let lately = before.filter(|pause| now < pause.paused.again + LONGEST_PAUSE);
        let of_change = kind.changes() || lately.is_some_and(|pause| pause.of_change);
        let failures = match outcome {
            Outcome::Failed => lately.map_or(0, |pause| pause.failures).saturating_add(1),
            Outcome::Refused | Outcome::Answered => 1,
        };
        let paused = Paused { again: now + delay(failures), last: Arc::clone(why) };
        let pause = Pause { failures, paused, of_change };
        let RecordId { controller, primary, token } = record;
        let primaries = self.controllers.entry(controller.into()).or_default();
        primaries.entry(primary.clone()).or_default().insert(token.into(), pause);
    }

    fn get(&self, record: RecordId<'_>) -> Option<&Pause> {
        self.controllers.get(record.controller)?.get(record.primary)?.get(record.token)
    }

    fn remove(&mut self, record: RecordId<'_>) {
        let Some(primaries) = self.controllers.get_mut(record.controller) else { return };
        let Some(records) = primaries.get_mut(record.primary) else { return };
        records.remove(record.token);
        if records.is_empty() {
            self.forget(record.controller, record.primary);
        }
    }

    /// Forgets a primary.
    pub(super) fn forget(&mut self, controller: &str, primary: &ObjectKey) {
        let Some(primaries) = self.controllers.get_mut(controller) else { return };
        primaries.remove(primary);
        if primaries.is_empty() {
            self.controllers.remove(controller);
        }
    }

    /// Forgets all primaries of a controller.
    pub(super) fn forget_all(&mut self, controller: &str) {
        self.controllers.remove(controller);
    }

    /// The number of primaries of a controller that don't exist and have entries.
    pub(super) fn leftovers(&self, controller: &str, exists: impl Fn(&ObjectKey) -> bool) -> usize {
        let primaries = self.controllers.get(controller).into_iter().flat_map(BTreeMap::keys);
        primaries.filter(|primary| !exists(primary)).count()
    }
}

fn delay(failures: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}
