use serde_json::{Value, json};

use super::{
    super::{GenericMatcher, Match, merged},
    cases,
};

fn actual() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": {
            "name": "a", "namespace": "b", "uid": "u", "resourceVersion": "7", "generation": 2,
            "labels": { "old": "1", "both": "1" },
            "finalizers": ["foreign"],
            "ownerReferences": [{ "uid": "1", "name": "other" }, { "uid": "2", "name": "outdated" }],
            "managedFields": [{ "manager": "x" }],
        },
        "spec": { "a": 1, "old": true },
        "data": { "gone": "1" },
        "status": { "ready": true },
    })
}

#[test]
fn content_is_replaced_and_metadata_is_added_to() {
    let desired = json!({
        "metadata": {
            "name": "a", "namespace": "b", "resourceVersion": "3",
            "labels": { "both": "2", "none": null },
            "annotations": { "new": "1" },
            "finalizers": ["foreign", "ours"],
            "ownerReferences": [{ "uid": "2", "name": "ours" }, { "uid": "3", "name": "new" }],
        },
        "spec": { "a": 2, "none": null },
    });
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": {
            "name": "a", "namespace": "b", "uid": "u", "resourceVersion": "7", "generation": 2,
            "labels": { "old": "1", "both": "2" },
            "annotations": { "new": "1" },
            "finalizers": ["foreign", "ours"],
            "ownerReferences": [
                { "uid": "1", "name": "other" }, { "uid": "2", "name": "ours" }, { "uid": "3", "name": "new" },
            ],
        },
        "spec": { "a": 2 },
        "status": { "ready": true },
    });
    assert_eq!(merged(&actual(), &desired), expected);
}

#[test]
fn a_desired_status_and_type_replace_the_actual_ones() {
    let desired = json!({ "apiVersion": "v2", "kind": "Thing", "status": { "ready": false } });
    let merged = merged(&actual(), &desired);
    assert_eq!(merged["apiVersion"], "v2");
    assert_eq!(merged["status"], json!({ "ready": false }));
    assert_eq!(merged["metadata"]["labels"], actual()["metadata"]["labels"]);
}

#[test]
fn objects_without_metadata_get_some() {
    let desired = json!({ "metadata": { "labels": { "a": "1" }, "finalizers": [] } });
    assert_eq!(merged(&json!({}), &desired), json!({ "metadata": { "labels": { "a": "1" } } }));
    assert_eq!(merged(&actual(), &Value::Null), json!({}), "what is no object has no body");
}

#[test]
fn what_was_merged_matches() {
    for (name, case) in cases::all() {
        let body = merged(&case.actual, &case.desired);
        assert!(body["metadata"].get("managedFields").is_none(), "{name}");
        assert_eq!(body["metadata"]["resourceVersion"], case.actual["metadata"]["resourceVersion"], "{name}");
        assert_eq!(GenericMatcher::new().matches(&case.desired, &body), Match::Equal, "{name}");
    }
}
