//! How the state of a bundle goes on from run to run. Pure.
//!
//! ```text
//!  first seen ──▶ Processing ──▶ Ready          content changes: Processing again, `processingSince` starts anew
//!      │              │  └ timeout ▶ Error (work goes on)
//!      │              └ waits ▶ Pending · fails ▶ Error
//!      └ suspended ▶ Pending
//!  deletion ──▶ Deleting (processing, blocked) · DeletionPending (waits)
//! ```
//!
//! # Guarantees
//! - Nothing is written because time has passed: a run that has found nothing new leaves the status as it is.
//! - Progress alone is written at most once in [`PROGRESS`].
//! - The time until the timeout starts anew with each change of the component or of its manifests, and only then.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use operator_core::status::conditions::ConditionStatus;

use super::status::{BundleState, BundleStatus, Inventory};

/// How often progress is written at most.
pub(super) const PROGRESS: Duration = Duration::from_secs(5);

/// What a run has shown of a bundle.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub(super) generation: i64,
    /// Of what is wanted; `None` if the run didn't come to it.
    pub(super) digest: Option<String>,
    pub(super) outcome: Outcome,
    pub(super) inventory: Inventory,
    pub(super) now: Timestamp,
    /// How long it may process.
    pub(super) timeout: Duration,
}

/// What has come out of a run, with the text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The run didn't come to it.
    NotReached(String),
    Suspended(String),
    /// Something outside has to come first.
    Waiting(String),
    Processing(String),
    Ready(String),
    Failed(String),
    Deleting(String),
    /// Others have objects that would go along.
    Blocked(String),
    /// The deletion has failed, and is tried again.
    DeletionFailed(String),
}

/// The condition `Ready` of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadyCondition {
    pub(super) status: ConditionStatus,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The status after a run, without its conditions.
#[derive(Clone, Debug)]
pub(super) struct Next {
    pub(super) status: BundleStatus,
    /// `None` if it stays as it was stored.
    pub(super) ready: Option<ReadyCondition>,
    /// When something changes although nothing happens.
    pub(super) again_in: Option<Duration>,
}

/// The status of a bundle after a run. `before`: as it was stored.
pub(super) fn next(before: &BundleStatus, sight: Sight) -> Next {
    let now = sight.now;
    let is_first = before.observed_generation.is_none_or(|generation| generation <= 0);
    let mut status = BundleStatus { conditions: Vec::new(), ..before.clone() };
    let is_changed = sight.digest.is_some() && sight.digest != before.processing_digest;
    if is_changed {
        status.revision = sight.digest.as_deref().map(|digest| before.revision_of(digest));
        status.processing_digest.clone_from(&sight.digest);
        status.processing_since = Some(now.to_string());
    }
    let since = status.processing_since.as_deref().and_then(|since| since.parse::<Timestamp>().ok());
    let left = since.map(|since| left(since, sight.timeout, now));
    let is_over = left.is_some_and(|left| left.is_zero());
    use BundleState::{Deleting, DeletionPending, Error, Pending, Processing, Ready};
    let (state, reason, message) = match sight.outcome {
        Outcome::NotReached(message) if is_first => (Pending, "FirstSeen", message),
        Outcome::NotReached(message) => (Pending, "Waiting", message),
        Outcome::Suspended(message) => (Pending, "Suspended", message),
        Outcome::Waiting(message) if is_over => (Pending, "Timeout", message),
        Outcome::Waiting(message) => (Pending, "Retrying", message),
        Outcome::Processing(message) if is_over => (Error, "Timeout", message),
        Outcome::Processing(message) if is_changed && before.processing_digest.is_some() => {
            (Processing, "Restarting", message)
        }
        Outcome::Processing(message) => (Processing, "Processing", message),
        Outcome::Ready(message) => (Ready, "Ready", message),
        Outcome::Failed(message) if is_over => (Error, "Timeout", message),
        Outcome::Failed(message) => (Error, "Error", message),
        Outcome::Deleting(message) => (Deleting, "DeletionProcessing", message),
        Outcome::Blocked(message) => (Deleting, "DeletionBlocked", message),
        Outcome::DeletionFailed(message) => (DeletionPending, "DeletionRetrying", message),
    };
    status.state = Some(state);
    status.observed_generation = Some(sight.generation);
    match state {
        Ready => {
            status.processing_since = None;
            status.last_processing_digest.clone_from(&status.processing_digest);
            status.applied_generation = Some(sight.generation);
            if is_changed || before.state != Some(Ready) {
                status.last_applied_at = Some(now.to_string());
            }
        }
        Processing if status.processing_since.is_none() => status.processing_since = Some(now.to_string()),
        Deleting | DeletionPending => (status.processing_since, status.processing_digest) = (None, None),
        Pending | Processing | Error => {}
    }
    status.inventory = sight.inventory;
    let again_in = left.filter(|left| !left.is_zero() && matches!(state, Pending | Processing | Error));
    let condition = ReadyCondition {
        status: match state {
            Ready => ConditionStatus::True,
            Error => ConditionStatus::False,
            Pending | Processing | Deleting | DeletionPending => ConditionStatus::Unknown,
        },
        reason,
        message,
    };
    settle(before, status, condition, again_in, now)
}

/// Leaves the stored status as it is if nothing has changed, or only progress that was written a moment ago.
fn settle(
    before: &BundleStatus,
    mut status: BundleStatus,
    ready: ReadyCondition,
    again_in: Option<Duration>,
    now: Timestamp,
) -> Next {
    let stored = before.conditions.iter().find(|condition| condition.type_ == "Ready");
    let same_reason = stored.is_some_and(|stored| {
        stored.reason == ready.reason
            && stored.status == ready.status.as_str()
            && stored.observed_generation == status.observed_generation
    });
    let same_text = same_reason && stored.is_some_and(|stored| stored.message == ready.message);
    let plain = |of: &BundleStatus| BundleStatus {
        conditions: Vec::new(),
        inventory: Inventory::default(),
        ..of.clone()
    };
    let is_same = same_reason && plain(before) == plain(&status);
    if is_same && same_text && before.inventory == status.inventory {
        return Next { status, ready: Some(ready), again_in };
    }
    let observed = before.last_observed_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
    if let Some(wait) = observed.map(|at| left(at, PROGRESS, now)).filter(|wait| is_same && !wait.is_zero()) {
        status.inventory = before.inventory.clone();
        let again_in = Some(again_in.map_or(wait, |again| again.min(wait)));
        return Next { status, ready: None, again_in };
    }
    status.last_observed_at = Some(now.to_string());
    Next { status, ready: Some(ready), again_in }
}

/// What is left of this time, which began then.
fn left(since: Timestamp, of: Duration, now: Timestamp) -> Duration {
    let gone = now.duration_since(since).max(SignedDuration::ZERO).unsigned_abs();
    of.saturating_sub(gone)
}
