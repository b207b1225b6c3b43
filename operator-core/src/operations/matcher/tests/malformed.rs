//! Managed sets and objects that don't fit together are differences, never panics.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Value, json};

use super::super::{Match, matches_owned_fields};
use super::{MANAGER, applied, differs, matched, matched_spec};

#[test]
fn a_set_that_is_none_differs() {
    let object = json!({"spec": {}});
    for owned in [json!(null), json!(1), json!("f:spec"), json!([])] {
        assert_eq!(matched(&object, &object, owned), differs(&["metadata.managedFields"]));
    }
    let whole = applied(None, json!({"f:spec": {}}));
    for entry in [
        ManagedFieldsEntry { fields_v1: None, ..whole.clone() },
        ManagedFieldsEntry { fields_type: Some("FieldsV2".to_owned()), ..whole },
    ] {
        let answer = matches_owned_fields(&object, &object, &[entry], MANAGER, None);
        assert_eq!(answer, differs(&["metadata.managedFields"]));
    }
}

#[test]
fn malformed_keys_differ_at_their_place() {
    let list: Value = json!([{"name": "a"}]);
    for owned in [
        json!(1),
        json!({"x:a": {}}),
        json!({"": {}}),
        json!({"é": {}}),
        json!({"k:": {}}),
        json!({"k:{\"name\":": {}}),
        json!({"k:{}": {}}),
        json!({"k:{\"name\":{}}": {}}),
        json!({"k:{\"name\":\"a\"}": {}, "v:1": {}}),
        json!({"f:name": {}, "k:{\"name\":\"a\"}": {}}),
        json!({"v:": {}}),
        json!({"v:{": {}}),
        json!({"i:": {}}),
        json!({"i:-1": {}}),
        json!({"i:one": {}}),
    ] {
        let answer = matched_spec(json!({"x": list}), json!({"x": list}), json!({"f:x": owned}));
        assert_eq!(answer, differs(&["spec.x"]), "{owned}");
    }
    assert_eq!(matched(&json!({}), &json!({}), json!({"k:{}": {}})), differs(&[""]));
    assert_eq!(matched(&json!({}), &json!({}), json!({"f:metadata": 1})), differs(&["metadata"]));
}

#[test]
fn another_shape_than_the_set_says_differs() {
    for (value, owned) in [
        (json!("text"), json!({"f:a": {}})),
        (json!([1]), json!({"f:a": {}})),
        (json!({"name": "a"}), json!({"k:{\"name\":\"a\"}": {}})),
        (json!({}), json!({"v:1": {}})),
        (json!(1), json!({"i:0": {}})),
    ] {
        let answer = matched_spec(json!({"x": value}), json!({"x": value}), json!({"f:x": owned}));
        assert_eq!(answer, differs(&["spec.x"]), "{value} {owned}");
    }
}

#[test]
fn an_item_that_is_missing_or_there_twice_differs() {
    let (item, owned) =
        (json!({"name": "a"}), json!({"f:x": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}));
    let answer = |desired, actual| matched_spec(json!({"x": desired}), json!({"x": actual}), owned.clone());
    assert_eq!(answer(json!([item]), json!([item])), Match::Equal);
    assert_eq!(answer(json!([item]), json!([])), differs(&["spec.x[0]"]));
    assert_eq!(answer(json!([item]), json!([item, item])), differs(&["spec.x[0]"]));
    assert_eq!(answer(json!([]), json!([])), differs(&["spec.x"]));
    assert!(!answer(json!([item, item]), json!([item])).is_equal());

    let set = |actual| matched_spec(json!({"x": [1]}), json!({"x": actual}), json!({"f:x": {"v:1": {}}}));
    assert_eq!(set(json!([2, 1.0])), Match::Equal);
    assert_eq!(set(json!([1, 1])), differs(&["spec.x"]));
}
