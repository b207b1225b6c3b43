//! Whether an object is ready, according to its status. Pure.

use std::{fmt, sync::Arc};

use serde_json::Value;

/// Whether an object is as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is.
    Ready,
    /// Not yet; the text describes what is missing, as far as that is known.
    Waiting(String),
    /// Something is wrong, as the text describes.
    Error(String),
    /// Its status doesn't show it. Then the end of its last run decides.
    Unknown,
}

impl Readiness {
    /// Reads the readiness off what most kinds have in their status, the first of these that is there:
    ///
    /// 1. a `deletionTimestamp`: waiting, for its end;
    /// 2. a `status.observedGeneration` behind `metadata.generation`: waiting, for the operator;
    /// 3. a text in `status.errorMessage`, or a condition `Stalled` that is true: in error;
    /// 4. a condition `Ready`: ready when it is true, else waiting;
    /// 5. a boolean `status.ready`: ready or waiting.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let metadata = |field: &str| object.pointer(&format!("/metadata/{field}"));
        let status = |field: &str| object.pointer(&format!("/status/{field}"));
        if metadata("deletionTimestamp").is_some() {
            return Self::Waiting("is being deleted".to_owned());
        }
        let generation = metadata("generation").and_then(Value::as_i64);
        let observed = status("observedGeneration").and_then(Value::as_i64);
        if let (Some(generation), Some(observed)) = (generation, observed)
            && observed < generation
        {
            return Self::Waiting(format!("status is about generation {observed} of {generation}"));
        }
        if let Some(error) = status("errorMessage").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            return Self::Error(error.to_owned());
        }
        if let Some(stalled) = condition(object, "Stalled").filter(|condition| is_true(condition)) {
            return Self::Error(words(stalled));
        }
        if let Some(ready) = condition(object, "Ready") {
            return if is_true(ready) { Self::Ready } else { Self::Waiting(words(ready)) };
        }
        match status("ready").and_then(Value::as_bool) {
            Some(true) => Self::Ready,
            Some(false) => Self::Waiting("status.ready is false".to_owned()),
            None => Self::Unknown,
        }
    }
}

fn condition<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| condition["type"] == name)
}

fn is_true(condition: &Value) -> bool {
    condition["status"] == "True"
}

/// What a condition says, in its own words.
fn words(condition: &Value) -> String {
    let word = |field: &str| condition[field].as_str().filter(|text| !text.is_empty());
    word("message").or_else(|| word("reason")).unwrap_or("without a reason").to_owned()
}

/// How readiness is determined.
#[derive(Clone)]
pub(super) struct Judge(pub(super) Arc<dyn Fn(&Value) -> Readiness + Send + Sync>);

impl Default for Judge {
    fn default() -> Self {
        Self(Arc::new(Readiness::of))
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(object: &Value, expect: &Readiness) {
        assert_eq!(Readiness::of(object), *expect, "{object}");
    }

    fn waiting(text: &str) -> Readiness {
        Readiness::Waiting(text.to_owned())
    }

    #[test]
    fn readiness_is_read_off_the_habits_of_statuses() {
        check(&json!({}), &Readiness::Unknown);
        check(&json!({ "status": { "ready": true } }), &Readiness::Ready);
        check(&json!({ "status": { "ready": false } }), &waiting("status.ready is false"));
        check(
            &json!({ "metadata": { "generation": 2 }, "status": { "ready": true, "observedGeneration": 1 } }),
            &waiting("status is about generation 1 of 2"),
        );
        check(
            &json!({ "status": { "ready": false, "errorMessage": "no disk" } }),
            &Readiness::Error("no disk".to_owned()),
        );
        let with = |name: &str, status: &str, message: &str| json!({ "status": { "conditions": [{ "type": name, "status": status, "message": message }] } });
        check(&with("Ready", "True", ""), &Readiness::Ready);
        check(&with("Ready", "False", "pulling"), &waiting("pulling"));
        check(&with("Stalled", "True", "quota"), &Readiness::Error("quota".to_owned()));
        check(
            &json!({ "metadata": { "deletionTimestamp": "2026-11-21T10:00:00Z" }, "status": { "ready": true } }),
            &waiting("is being deleted"),
        );
    }
}
