//! Times in objects.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::view::{items, text};
use crate::in_process::write::metadata::time;

/// A time of an object.
pub(super) fn parse(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// What is left until some seconds after a time; zero if that is over.
pub(super) fn left(now: Timestamp, since: Timestamp, seconds: i64) -> Duration {
    let end = since.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    Duration::try_from(end.duration_since(now)).unwrap_or_default()
}

/// A condition of an object.
pub(super) fn condition<'o>(status: &'o Value, kind: &str) -> Option<&'o Value> {
    items(&status["conditions"]).iter().find(|condition| condition["type"] == kind)
}

/// Whether an object has a condition that is true.
pub(super) fn is_true(status: &Value, kind: &str) -> bool {
    condition(status, kind).is_some_and(|condition| condition["status"] == "True")
}

/// A condition with its times as it begins now.
pub(super) fn new_condition(now: Timestamp, kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": time(now),
    })
}

/// Puts a condition at the end of the list, in place of one with the same type. Nothing changes if status and reason
/// stay; the time of the transition stays if the status does.
pub(super) fn set_condition(status: &mut Value, mut new: Value) {
    let kind = text(&new["type"]).to_owned();
    if let Some(known) = condition(status, &kind) {
        if known["status"] == new["status"] && known["reason"] == new["reason"] {
            return;
        }
        if known["status"] == new["status"] {
            new["lastTransitionTime"] = known["lastTransitionTime"].clone();
        }
    }
    remove_condition(status, &kind);
    match status["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(new),
        None => status["conditions"] = json!([new]),
    }
}

/// Takes a condition away.
pub(super) fn remove_condition(status: &mut Value, kind: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != kind);
        if conditions.is_empty() {
            status.as_object_mut().map(|status| status.remove("conditions"));
        }
    }
}
