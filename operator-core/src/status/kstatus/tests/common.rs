//! The rules for every kind.

use super::*;

#[test]
fn what_is_asked_first_wins() {
    let reconciling = condition("Reconciling", "True", "Working");
    let stalled = condition("Stalled", "True", "Broken");
    let ready = condition("Ready", "True", "Fine");
    let behind = json!({ "generation": 2 });
    let all = json!({ "observedGeneration": 1, "conditions": [reconciling, stalled, ready] });
    let deleted = json!({ "generation": 2, "deletionTimestamp": "2026-11-21T12:00:00Z" });
    check(
        "example.com/v1",
        "Thing",
        &[
            (json!({ "metadata": deleted, "status": all }), "Terminating", "being deleted"),
            (
                json!({ "metadata": behind, "status": all }),
                "InProgress/LatestGenerationNotObserved",
                "generation 2 not seen yet, but 1",
            ),
            (json!({ "status": all }), "InProgress/Working", "about Reconciling"),
            (
                json!({ "metadata": { "generation": 1 }, "status": all }),
                "InProgress/Working",
                "about Reconciling",
            ),
            (json!({ "status": { "conditions": [stalled, reconciling] } }), "Failed/Broken", "about Stalled"),
            (
                json!({ "status": { "conditions": [condition("Stalled", "False", ""), ready] } }),
                "Current",
                "about Ready",
            ),
            (
                json!({ "status": { "conditions": [{ "type": "Stalled", "status": "True" }] } }),
                "Failed/Stalled",
                "",
            ),
        ],
    );
}

#[test]
fn a_kind_without_a_rule_is_asked_for_its_condition_ready() {
    let ready = |status, reason| json!({ "status": { "conditions": [condition("Ready", status, reason)] } });
    let silent = json!({ "status": { "conditions": [{ "type": "Ready", "status": "Unknown" }] } });
    check(
        "example.com/v1",
        "Thing",
        &[
            (ready("True", "Fine"), "Current", "about Ready"),
            (ready("False", "Creating"), "InProgress/Creating", "about Ready"),
            (ready("Unknown", ""), "InProgress/NotReady", "about Ready"),
            (silent, "InProgress/NotReady", "not ready"),
            (ready("Perhaps", "Odd"), "Current", "there"),
            (json!({ "status": null }), "Current", "there"),
            (json!({}), "Current", "there"),
        ],
    );
}

#[test]
fn the_group_tells_kinds_of_one_name_apart() {
    let no_replicas = json!({ "status": {} });
    check("example.com/v1", "Deployment", &[(no_replicas.clone(), "Current", "there")]);
    check("apps/v1beta2", "Deployment", &[(no_replicas, "InProgress/LessReplicas", "0/1 replicas created")]);
}

#[test]
fn a_field_of_a_wrong_type_is_an_error_that_names_it() {
    let messages = [
        (json!({ "metadata": { "generation": "1" } }), "`metadata.generation` is not an integer"),
        (json!({ "metadata": [] }), "`metadata` is not an object"),
        (json!([]), "`.` is not an object"),
        (json!({ "status": { "conditions": {} } }), "`status.conditions` is not a list"),
        (json!({ "status": { "conditions": ["Ready"] } }), "`status.conditions` is not a list of objects"),
        (
            json!({ "status": { "conditions": [{ "type": 1 }] } }),
            "`status.conditions[].type` is not a string",
        ),
        (
            json!({ "apiVersion": "batch/v1", "kind": "Job", "spec": { "suspend": 1 } }),
            "`spec.suspend` is not a boolean",
        ),
    ];
    for (object, expected) in messages {
        let error = at(&object, 0).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let unknown = Kstatus::from(&error);
        assert_eq!((unknown.status, unknown.message.as_str()), (Status::Unknown, expected));
    }
}

#[test]
fn what_is_not_there_is_not_current() {
    assert!(!Kstatus::not_found().is_current());
    assert_eq!(Kstatus::not_found().status.to_string(), "NotFound");
}
