//! Whether a PUT, a JSON patch or a merge patch would change anything.

use serde_json::{Map, Value};

use super::strip_nulls;

/// The fields of the metadata that a client decides; the rest is the server's.
const METADATA: [&str; 4] = ["annotations", "finalizers", "labels", "ownerReferences"];

/// Whether replacing `actual` by `desired` would change nothing except what the server decides itself.
///
/// Unlike in JOSDK's `GenericKubernetesResourceMatcher`, additional fields in the actual object are not tolerated: a
/// PUT removes what it doesn't contain, and if that counted as a match, nothing could ever be removed by one. What the
/// server fills in again costs a request that changes nothing. A `status` that `desired` doesn't have is not compared,
/// because most kinds ignore it here.
#[must_use]
pub(crate) fn matches_replacement(desired: &Value, actual: &Value) -> bool {
    let (desired, mut actual) = (decided_by_client(desired), decided_by_client(actual));
    if desired.get("status").is_none() {
        actual.remove("status");
    }
    desired == actual
}

/// Whether replacing the status of `actual` by that of `desired` would change nothing. The rest is ignored.
#[must_use]
pub(crate) fn matches_replaced_status(desired: &Value, actual: &Value) -> bool {
    let status = |object: &Value| {
        let mut status = object.get("status").cloned().unwrap_or_default();
        strip_nulls(&mut status);
        status
    };
    status(desired) == status(actual)
}

/// Whether a merge patch (RFC 7386) leaves `actual` unchanged. With `status_only`, the rest of the patch is ignored.
#[must_use]
pub(crate) fn matches_merged(patch: &Value, actual: &Value, status_only: bool) -> bool {
    let part = |value: &Value| if status_only { value.get("status").cloned() } else { Some(value.clone()) };
    let Some(patch) = part(patch) else { return true };
    let mut before = part(actual).unwrap_or_default();
    strip_nulls(&mut before);
    let mut after = before.clone();
    json_patch::merge(&mut after, &patch);
    before == after
}

fn decided_by_client(object: &Value) -> Map<String, Value> {
    let mut object = object.clone();
    strip_nulls(&mut object);
    let Value::Object(mut fields) = object else { return Map::new() };
    fields.remove("apiVersion");
    fields.remove("kind");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        // An empty map and an empty list are stored as none.
        let is_empty = |value: &Value| {
            value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
        };
        metadata.retain(|name, value| METADATA.contains(&name.as_str()) && !is_empty(value));
    }
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn actual() -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Thing",
            "metadata": { "name": "a", "uid": "u", "resourceVersion": "7", "labels": { "by": "us" } },
            "spec": { "a": 1, "list": [1, 2] },
            "status": { "phase": "ready", "error": "none" },
        })
    }

    fn check(edit: impl FnOnce(&mut Value), expect: bool) {
        let mut desired = actual();
        edit(&mut desired);
        assert_eq!(matches_replacement(&desired, &actual()), expect, "{desired}");
    }

    #[test]
    fn a_replacement_is_compared_without_what_the_server_decides() {
        check(|_| {}, true);
        check(|desired| desired["metadata"]["resourceVersion"] = "6".into(), true);
        check(|desired| desired["metadata"]["annotations"] = json!({}), true);
        check(|desired| desired["status"] = Value::Null, true);
        check(|desired| desired["spec"]["none"] = Value::Null, true);
    }

    #[test]
    fn a_replacement_that_removes_something_differs() {
        check(|desired| desired["spec"]["list"] = json!([1]), false);
        check(|desired| desired["metadata"]["labels"] = Value::Null, false);
        check(|desired| desired["metadata"]["finalizers"] = json!(["example.com/mine"]), false);
        check(|desired| desired["status"]["phase"] = "gone".into(), false);
    }

    #[test]
    fn a_status_is_compared_by_itself() {
        let mut desired = actual();
        desired["spec"]["a"] = 2.into();
        assert!(matches_replaced_status(&desired, &actual()));
        desired["status"]["error"] = Value::Null;
        assert!(!matches_replaced_status(&desired, &actual()), "a field that is cleared must be sent");
    }

    #[test]
    fn a_merge_patch_matches_when_it_changes_nothing() {
        let is_so = |patch: Value, status_only| matches_merged(&patch, &actual(), status_only);
        assert!(is_so(json!({ "spec": { "a": 1 }, "metadata": { "labels": { "other": null } } }), false));
        assert!(!is_so(json!({ "spec": { "a": 2 } }), false));
        assert!(!is_so(json!({ "status": { "error": null } }), true));
        assert!(is_so(json!({ "spec": { "a": 2 }, "status": { "phase": "ready" } }), true));
        assert!(is_so(json!({ "spec": { "a": 2 } }), true));
    }
}
