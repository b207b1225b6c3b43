//! Empty containers, nulls and fields that the API server drops.

use serde_json::json;

use super::super::Match;
use super::{differs, matched, matched_spec};

#[test]
fn an_owned_empty_container_may_be_absent() {
    for empty in [json!({}), json!([]), json!({"a": [], "b": {"c": null}})] {
        let answer = matched_spec(json!({"x": empty}), json!({}), json!({"f:x": {}}));
        assert_eq!(answer, Match::Equal, "{empty}");
    }
    assert_eq!(matched_spec(json!({"x": ""}), json!({}), json!({"f:x": {}})), differs(&["spec.x"]));
}

#[test]
fn an_empty_list_may_leave_no_trace() {
    for empty in [json!([]), json!({"a": []})] {
        let answer = matched_spec(json!({"x": empty, "y": 1}), json!({"y": 1}), json!({"f:y": {}}));
        assert_eq!(answer, Match::Equal, "{empty}");
    }
    let foreign = json!({"metadata": {"finalizers": ["a.io/b"]}, "spec": {}});
    assert_eq!(matched(&json!({"metadata": {"finalizers": []}}), &foreign, json!({})), Match::Equal);
}

#[test]
fn an_empty_object_that_was_never_applied_differs() {
    for wanted in [json!({}), json!({"oidc": {}}), json!({"oidc": {"a": null}})] {
        let answer = matched_spec(json!({"x": wanted, "y": 1}), json!({"y": 1}), json!({"f:y": {}}));
        assert_eq!(answer, differs(&["spec.x"]), "{wanted}");
    }
}

#[test]
fn an_empty_container_does_not_hide_a_removal() {
    // The atomic map was applied with content.
    assert_eq!(
        matched_spec(json!({"x": {}}), json!({"x": {"a": 1}}), json!({"f:x": {}})),
        differs(&["spec.x"])
    );
    assert_eq!(
        matched_spec(json!({"x": {}}), json!({"x": {"a": 1}}), json!({"f:x": {"f:a": {}}})),
        differs(&["spec.x.a"])
    );
    assert_eq!(
        matched_spec(json!({"x": []}), json!({"x": [{"k": 1}]}), json!({"f:x": {"k:{\"k\":1}": {}}})),
        differs(&["spec.x[0]"])
    );
}

#[test]
fn empty_labels_and_annotations_are_at_peace_with_those_of_others() {
    let desired = json!({"metadata": {"labels": {}, "annotations": {}}});
    let actual = json!({"metadata": {"labels": {"foreign": "1"}, "annotations": {"revision": "3"}}});
    let owned = json!({"f:metadata": {"f:annotations": {}, "f:labels": {}}});
    assert_eq!(matched(&desired, &actual, owned.clone()), Match::Equal);
    assert_eq!(matched(&desired, &actual, json!({})), Match::Equal);
    let wanted = json!({"metadata": {"labels": {"foreign": "1"}}});
    assert_eq!(matched(&wanted, &actual, owned), differs(&["metadata.labels.foreign"]));
}

#[test]
fn null_means_absent() {
    let (desired, actual) = (json!({"x": null, "y": {"z": null}}), json!({"y": {}}));
    assert_eq!(matched_spec(desired.clone(), actual, json!({"f:y": {}})), Match::Equal);
    assert_eq!(
        matched_spec(desired, json!({"x": 1, "y": {}}), json!({"f:x": {}, "f:y": {}})),
        differs(&["spec.x"])
    );
}

#[test]
fn what_we_own_and_nobody_has_any_more_is_equal() {
    assert_eq!(matched_spec(json!({}), json!({}), json!({"f:x": {}, "f:y": {"f:z": {}}})), Match::Equal);
}

#[test]
fn what_names_the_object_is_ignored() {
    let desired = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "a", "namespace": "b", "uid": "c", "resourceVersion": "1", "creationTimestamp": "d",
        "deletionTimestamp": "e", "generation": 1, "selfLink": "f", "managedFields": [{}],
    }, "status": {"x": 1}});
    assert_eq!(matched(&desired, &json!({}), json!({"f:metadata": {"f:name": {}}})), Match::Equal);
}
