//! One row of many: of a component, and of all components.

use crate::health::{Reason, Row};
use operator_core::status::conditions::ConditionStatus;

/// What is told before anything else: what makes a condition false, then the more critical.
fn rank(reason: Reason) -> (bool, u8) {
    (reason.status() != ConditionStatus::True, reason.priority())
}

/// The worst row, with the texts of all of its class; `None` if there is no row.
pub(super) fn worst<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> Option<Row> {
    let worse = |worst: Reason, other: Reason| if rank(other) > rank(worst) { other } else { worst };
    let reason = rows.clone().map(|row| row.reason).reduce(worse)?;
    Some(Row::new(reason, texts(rows.filter(|row| row.reason.is_told_with(reason)))))
}

/// Their texts, joined.
pub(super) fn texts<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let texts: Vec<&str> = rows.map(|row| row.message.as_str()).filter(|text| !text.is_empty()).collect();
    texts.join("; ")
}

/// The condition `Ready` of all components, each given by its name and its state: `None` if it never ran. It is true only if all of
/// them are. The reason is that of the worst one that isn't, or else of the worst of all, which the text names; of two that are as bad,
/// of the first. A component that never ran is `Unknown`, and so is `Ready` without components: neither is ready.
#[must_use]
pub fn ready<'r>(components: impl IntoIterator<Item = (&'r str, Option<&'r Row>)>) -> Row {
    let all = components.into_iter().map(|(name, row)| (name, row.cloned().unwrap_or_else(never_ran)));
    let worst =
        all.reduce(|worst, other| if rank(other.1.reason) > rank(worst.1.reason) { other } else { worst });
    match worst {
        None => Row::new(Reason::Unknown, "No components were aggregated."),
        Some((name, row)) if row.message.is_empty() => Row::new(row.reason, name),
        Some((name, row)) => Row::new(row.reason, format!("{name}: {}", row.message)),
    }
}

/// The text about a component that waits for the condition of another one to be true, of which this is the state in the same run; `None`
/// if it never ran.
#[must_use]
pub fn prerequisite_not_met(condition: &str, state: Option<&Row>) -> String {
    let state = state.cloned().unwrap_or_else(never_ran);
    let (status, message) = (state.reason.status().as_str(), state.message);
    format!(
        "Prerequisite not met: waiting for condition \"{condition}\" to become True (currently {status}: {message})"
    )
}

pub(crate) fn never_ran() -> Row {
    Row::new(Reason::Unknown, "Component has not been reconciled yet.")
}
