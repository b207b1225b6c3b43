//! The two forms of an Event: that of the core group, in which it is stored, and that of `events.k8s.io`. Pure.

use serde_json::Value;

use super::Kind;
use crate::in_process::store::Resource;

/// What one form calls differently: core, `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Fields that only the core form writes even if they are empty.
const ALWAYS: [&str; 2] = ["reportingComponent", "reportingInstance"];

impl Kind {
    /// Whether its objects are Events in the form of `events.k8s.io`.
    pub(in crate::in_process) fn is_new_event(&self) -> bool {
        self.group == "events.k8s.io" && self.plural == "events"
    }
}

/// Where all Events are stored.
pub(super) fn stored_at() -> Resource {
    Resource::new("", "events")
}

/// An Event of the core group as one of `events.k8s.io`.
pub(in crate::in_process) fn to_new(stored: &Value) -> Value {
    let mut event = stored.clone();
    let Some(fields) = event.as_object_mut() else { return event };
    for name in ALWAYS {
        if fields.get(name).is_some_and(|value| value == "") {
            fields.remove(name);
        }
    }
    for (old, new) in NAMES {
        if let Some(value) = fields.remove(old) {
            fields.insert(new.to_owned(), value);
        }
    }
    fields.insert("apiVersion".to_owned(), "events.k8s.io/v1".into());
    event
}

/// An Event of `events.k8s.io` as one of the core group.
pub(in crate::in_process) fn to_core(new: &Value) -> Value {
    let mut event = new.clone();
    let Some(fields) = event.as_object_mut() else { return event };
    for (old, new) in NAMES {
        if let Some(value) = fields.remove(new) {
            fields.insert(old.to_owned(), value);
        }
    }
    for name in ALWAYS {
        fields.entry(name).or_insert_with(|| "".into());
    }
    fields.insert("apiVersion".to_owned(), "v1".into());
    event
}
