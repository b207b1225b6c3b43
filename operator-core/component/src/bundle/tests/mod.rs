//! The course of a bundle's state, run by run.

mod oracle;
mod table;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use super::{
    course::{Next, Outcome, Sight, next},
    status::{BundleStatus, Inventory},
};

/// So many seconds after the beginning.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("it is in range")
}

fn sight(seconds: i64, digest: &str, outcome: Outcome) -> Sight {
    Sight {
        generation: 1,
        digest: Some(digest.to_owned()),
        outcome,
        inventory: Inventory::default(),
        now: at(seconds),
        timeout: Duration::from_secs(60),
    }
}

/// What is stored after the run, as the status function writes it.
fn stored(before: &BundleStatus, sight: Sight) -> (BundleStatus, Option<Duration>) {
    let (now, generation) = (sight.now, sight.generation);
    let Next { mut status, ready, again_in } = next(before, sight);
    status.conditions = match ready {
        None => before.conditions.clone(),
        Some(ready) => vec![Condition {
            type_: "Ready".to_owned(),
            status: ready.status.as_str().to_owned(),
            reason: ready.reason.to_owned(),
            message: ready.message,
            observed_generation: Some(generation),
            last_transition_time: Time(now),
        }],
    };
    // Only a changed status of the condition moves its time.
    if let (Some(condition), Some(old)) = (status.conditions.first_mut(), before.conditions.first())
        && condition.status == old.status
    {
        condition.last_transition_time = old.last_transition_time.clone();
    }
    (status, again_in)
}

fn reason(status: &BundleStatus) -> String {
    status.conditions.first().map_or_else(String::new, |ready| format!("{} {}", ready.status, ready.reason))
}
