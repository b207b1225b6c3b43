//! The condition of a component, made of the states of its objects.
//!
//! ```text
//!  gate fails ──▶ FeatureGateError
//!  gate off ────▶ Disabled             once nothing of it is left
//!  not started ─▶ PrerequisiteNotMet
//!  suspended ───▶ Suspending ─▶ Suspended
//!  otherwise: all rows healthy ─▶ Healthy
//!             the worst row ────▶ Creating … Failing, Blocked, Error
//!                                     └ after the grace period ─▶ Degraded or Down
//! ```
//!
//! The first line that applies counts. The rows of the last one are those of all nodes that aren't auxiliary, and of each that waits or
//! is held.
//!
//! # Guarantees
//! - A component is `Healthy` only if each row that counts is.
//! - Creating, Updating and Scaling stay until the component is healthy, while nothing is wrong: they don't change with each object that
//!   gets further than another.
//! - The grace period begins when the component stops being healthy, or has a new generation to bring about, and not again with a failed
//!   run or another object. It is over after [`Outcome::again_in`], to the second, also for another process.
//! - The result depends on the arguments alone.
//!
//! # Assumptions
//! - The caller stores the condition, and `converging_since` by component, in the status of the primary, and gives both back as
//!   [`Before`] in the next run.
//! - A run follows after `again_in`.

mod grace;
mod summary;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_core::status::conditions;

use crate::health::{Reason, Row};
pub(crate) use summary::never_ran;
pub use summary::{prerequisite_not_met, ready};

/// What applies to a component before its rows do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Whether it is wanted can't be told.
    GateFailed(String),
    /// It isn't wanted.
    Off,
    /// It comes after something that isn't ready, which the text names: [`prerequisite_not_met`].
    NotStarted(String),
    /// It is suspended.
    Suspended,
    /// None of these.
    On,
}

impl Stage {
    /// The first one that applies. `gate` is whether the component is wanted, or why that can't be told; `not_started` is what it waits
    /// for, and `None` if it has started.
    #[must_use]
    pub fn of(gate: Result<bool, String>, not_started: Option<String>, is_suspended: bool) -> Self {
        match (gate, not_started) {
            (Err(error), _) => Self::GateFailed(error),
            (Ok(false), _) => Self::Off,
            (Ok(true), Some(text)) => Self::NotStarted(text),
            (Ok(true), None) if is_suspended => Self::Suspended,
            (Ok(true), None) => Self::On,
        }
    }
}

/// A node, or an object of a node, as the condition of its component sees it.
///
/// | stage | row | counts |
/// |---|---|---|
/// | [`Stage::On`] | [`health::of`](crate::health::of); `Blocked` for one that waits or is held; `Error` for one that has failed | if it isn't auxiliary, or `Blocked` |
/// | [`Stage::Suspended`] | [`health::suspended`](crate::health::suspended); `Suspending` for one that can't be suspended yet; none for one that only reads | always |
/// | [`Stage::Off`] | `Updating` for one whose objects are being deleted; none for one that is gone, or only reads | always |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the node, for the warning.
    pub node: String,
    /// Its state.
    pub row: Row,
    /// What it counts as after the grace period, as [`health::after_grace`](crate::health::after_grace) says.
    pub after_grace: Option<Reason>,
    /// Whether its health doesn't count.
    pub is_auxiliary: bool,
    /// Whether it may count as healthy after the grace period without being so, and nobody is to be warned.
    pub is_quiet: bool,
}

/// What was stored about a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// The reason of its condition; `None` if there is no condition, or it isn't a component's.
    pub reason: Option<Reason>,
    /// Since when it converges.
    pub converging_since: Option<Timestamp>,
    /// Whether its condition is about the present generation of the primary.
    pub is_of_this_generation: bool,
}

impl Before {
    /// From the conditions in the status of the primary, of which `generation` is the present generation.
    #[must_use]
    pub fn of(
        conditions: &[Condition],
        r#type: &str,
        converging_since: Option<Timestamp>,
        generation: Option<i64>,
    ) -> Self {
        let stored = conditions::find(conditions, r#type);
        Self {
            reason: stored.and_then(|stored| Reason::parse(&stored.reason)),
            converging_since,
            is_of_this_generation: stored.is_some_and(|stored| stored.observed_generation == generation),
        }
    }
}

/// The state of a component after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its condition.
    pub row: Row,
    /// Since when it converges, in whole seconds, to be stored; `None` if it doesn't, or is in no state to converge.
    pub converging_since: Option<Timestamp>,
    /// When the grace period is over, if it isn't yet: another run should follow then.
    pub again_in: Option<Duration>,
    /// Parts that count as healthy after the grace period and aren't: a contradiction in the user's code, to be logged. A sentence for
    /// each.
    pub warnings: Vec<String>,
}

impl From<Row> for Outcome {
    fn from(row: Row) -> Self {
        Self { row, converging_since: None, again_in: None, warnings: Vec::new() }
    }
}

/// The state of a component: of its stage and parts, of what was stored, and of the time. Without a grace period, or with one of no
/// length, it may converge for ever.
#[must_use]
pub fn judge(
    stage: &Stage,
    parts: &[Part],
    before: &Before,
    grace: Option<Duration>,
    now: Timestamp,
) -> Outcome {
    match stage {
        Stage::GateFailed(error) => Row::new(Reason::FeatureGateError, error).into(),
        Stage::Off => at_rest(parts, Reason::Disabled, "Component is disabled."),
        Stage::NotStarted(text) => Row::new(Reason::PrerequisiteNotMet, text).into(),
        Stage::Suspended => at_rest(parts, Reason::Suspended, "All resources are suspended."),
        Stage::On => grace::converge(parts, before, grace, now),
    }
}

/// At rest once all parts are; otherwise the worst of the others.
fn at_rest(parts: &[Part], rest: Reason, text: &str) -> Outcome {
    let others = parts.iter().map(|part| &part.row).filter(|row| row.reason != rest);
    summary::worst(others).unwrap_or_else(|| Row::new(rest, text)).into()
}
