//! Which entry of the managed fields counts.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::json;

use super::super::{Match, fields::MAX_PATHS, matches_owned_fields, still_owned};
use super::{MANAGER, applied, differs, matched};

#[test]
fn the_entries_of_one_manager_are_told_apart_by_subresource() {
    let desired = json!({"spec": {"a": 1}, "status": {"ready": true}});
    let actual = json!({"spec": {"a": 1}, "status": {"ready": true, "foreign": 1}});
    let main = applied(None, json!({"f:spec": {"f:a": {}}}));
    let status = applied(Some("status"), json!({"f:status": {"f:ready": {}}}));
    let both = [main.clone(), status.clone()];
    let answer = |desired, managed: &[_], subresource| {
        matches_owned_fields(desired, &actual, managed, MANAGER, subresource)
    };
    assert_eq!(answer(&desired, &both, None), Match::Equal);
    assert_eq!(answer(&desired, &both, Some("")), Match::Equal);
    assert_eq!(answer(&desired, &both, Some("status")), Match::Equal);
    assert_eq!(answer(&desired, &[main], Some("status")), Match::NeverApplied);
    assert_eq!(answer(&desired, &[status], None), Match::NeverApplied);

    let changed = json!({"spec": {"a": 1}, "status": {"ready": false}});
    assert_eq!(answer(&changed, &both, None), Match::Equal);
    assert_eq!(answer(&changed, &both, Some("status")), differs(&["status.ready"]));
    let changed = json!({"spec": {"a": 2}, "status": {"ready": true}, "metadata": {"labels": {"a": "b"}}});
    assert_eq!(answer(&changed, &both, None), differs(&["metadata.labels", "spec.a"]));
    assert_eq!(answer(&changed, &both, Some("status")), Match::Equal);
}

#[test]
fn a_status_that_is_not_owned_differs() {
    let (desired, actual) = (json!({"status": {"ready": true}}), json!({"status": {"ready": true}}));
    let managed = [applied(Some("status"), json!({}))];
    assert_eq!(
        matches_owned_fields(&desired, &actual, &managed, MANAGER, Some("status")),
        differs(&["status"])
    );
    assert_eq!(matches_owned_fields(&json!({}), &actual, &managed, MANAGER, Some("status")), Match::Equal);
}

#[test]
fn entries_of_others_and_of_updates_do_not_count() {
    let object = json!({"spec": {"a": 1}});
    let ours = applied(None, json!({"f:spec": {"f:a": {}}}));
    let update = ManagedFieldsEntry { operation: Some("Update".to_owned()), ..ours.clone() };
    let other = ManagedFieldsEntry { manager: Some("kubectl".to_owned()), ..ours.clone() };
    let answer = |managed: &[_]| {
        let by_value = matches_owned_fields(&object, &object, managed, MANAGER, None);
        assert_eq!(still_owned(&object, managed, MANAGER), by_value);
        by_value
    };
    assert_eq!(answer(&[]), Match::NeverApplied);
    assert_eq!(answer(&[update.clone(), other.clone()]), Match::NeverApplied);
    assert_eq!(answer(&[update, other, ours.clone()]), Match::Equal);
    assert_eq!(answer(&[ours.clone(), ours]), differs(&["metadata.managedFields"]));
}

#[test]
fn a_set_of_another_version_differs() {
    let object = json!({"apiVersion": "example.com/v1", "spec": {"a": 1}});
    let entry = |version: &str| ManagedFieldsEntry {
        api_version: Some(version.to_owned()),
        ..applied(None, json!({"f:spec": {"f:a": {}}}))
    };
    let answer = |entry| still_owned(&object, &[entry], MANAGER);
    assert_eq!(answer(entry("example.com/v1")), Match::Equal);
    assert_eq!(answer(entry("example.com/v1beta1")), differs(&["apiVersion"]));
}

#[test]
fn the_number_of_paths_is_bounded_and_no_path_has_a_value() {
    let data: serde_json::Map<_, _> = (0..50).map(|n| (format!("k{n}"), json!("c2VjcmV0"))).collect();
    let answer = matched(
        &json!({"data": data, "metadata": {"finalizers": ["c2VjcmV0"]}}),
        &json!({"data": {}, "items": [{"name": "c2VjcmV0"}]}),
        json!({"f:items": {"k:{\"name\":\"c2VjcmV0\"}": {}}, "f:data": {"f:k0": {}}}),
    );
    let Match::Differs(paths) = answer else { panic!("{answer:?}") };
    assert!(paths.len() <= MAX_PATHS);
    assert!(paths.iter().all(|path| !path.contains("c2VjcmV0")), "{paths:?}");
}
