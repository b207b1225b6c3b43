//! The way to being healthy, and the time that it may take.

use std::time::Duration;

use jiff::Timestamp;
use operator_core::status::conditions::ConditionStatus;

use super::{Before, Outcome, Part, summary};
use crate::health::{Reason, Row};

/// The state of a component that is on.
pub(super) fn converge(parts: &[Part], before: &Before, grace: Option<Duration>, now: Timestamp) -> Outcome {
    let counted = || parts.iter().filter(|part| !part.is_auxiliary || part.row.reason == Reason::Blocked);
    let unready = || counted().filter(|part| !part.row.reason.is_healthy());
    let Some(worst) = summary::worst(unready().map(|part| &part.row)) else {
        return Row::new(Reason::Healthy, "Component is healthy.").into();
    };
    if worst.reason.status() == ConditionStatus::True {
        return worst.into();
    }
    let known = before.clock();
    let since = known.filter(|_| before.is_of_this_generation).map_or(now, |since| since.min(now));
    let since = Timestamp::from_second(since.as_second()).unwrap_or(since);
    if worst.reason == Reason::Error {
        // The clock goes on, so that a run that fails now and then doesn't make the grace period longer. It isn't one to converge by.
        return Outcome { converging_since: known.map(|_| since), ..worst.into() };
    }
    let row = Row { reason: before.lasting(worst.reason), ..worst };
    let elapsed = now.duration_since(since).unsigned_abs();
    let left = grace.filter(|grace| !grace.is_zero()).map(|grace| grace.saturating_sub(elapsed));
    let on_the_way = Outcome { converging_since: Some(since), again_in: left, ..row.into() };
    if left != Some(Duration::ZERO) {
        return on_the_way;
    }
    let works =
        counted().any(|part| part.row.reason.is_healthy() && part.after_grace == Some(Reason::Healthy));
    match graded(unready(), works) {
        Some(row) => Outcome { row, again_in: None, ..on_the_way },
        None => Outcome { again_in: None, warnings: contradictions(unready()), ..on_the_way },
    }
}

impl Before {
    /// Since when it converges; `None` if it was in no state to do so.
    fn clock(&self) -> Option<Timestamp> {
        let reason = self.reason?;
        let is_outside =
            matches!(reason, Reason::Unknown | Reason::FeatureGateError | Reason::PrerequisiteNotMet);
        self.converging_since.filter(|_| !is_outside && reason.status() != ConditionStatus::True)
    }

    /// The reason of now, or the stored one if that is to stay. With a new generation an update begins, whatever was going on; only what
    /// was never ready is still being created.
    fn lasting(&self, now: Reason) -> Reason {
        match self.reason {
            Some(stored @ Reason::Creating) if now.is_progress() => stored,
            Some(stored @ (Reason::Updating | Reason::Scaling))
                if now.is_progress() && self.is_of_this_generation =>
            {
                stored
            }
            _ => now,
        }
    }
}

/// What a part that isn't ready counts as after the grace period.
fn verdict(part: &Part) -> Option<Reason> {
    match (part.row.reason, part.after_grace) {
        // Nothing of it was done, so that it can't tell.
        (Reason::Blocked, _) => Some(Reason::Down),
        (reason @ (Reason::Down | Reason::Degraded), _) => Some(reason),
        (_, verdict) => verdict,
    }
}

/// Down or Degraded, by the worst part that can tell. If none can, it depends on whether another one works. `None` if all of them count
/// as healthy.
fn graded<'p>(unready: impl Iterator<Item = &'p Part> + Clone, works: bool) -> Option<Row> {
    let is_bad = |reason: &Reason| matches!(reason, Reason::Down | Reason::Degraded);
    let worst = unready.clone().filter_map(verdict).filter(is_bad).max_by_key(|reason| reason.priority());
    let silent = unready.clone().any(|part| verdict(part).is_none());
    let fallback = silent.then_some(if works { Reason::Degraded } else { Reason::Down });
    let reason = worst.or(fallback)?;
    let texts = summary::texts(unready.filter(|part| verdict(part) == worst).map(|part| &part.row));
    let how = if reason == Reason::Down { "down" } else { "degraded" };
    Some(Row::new(reason, format!("Component is {how}: {texts}")))
}

/// The parts that count as healthy after the grace period, and aren't.
fn contradictions<'p>(unready: impl Iterator<Item = &'p Part>) -> Vec<String> {
    let loud = unready.filter(|part| !part.is_quiet);
    let sentence = |part: &Part| {
        let Row { reason, message } = &part.row;
        format!("{} counts as healthy after the grace period, but is {reason}: {message}", part.node)
    };
    loud.map(sentence).collect()
}
