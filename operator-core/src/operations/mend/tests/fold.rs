//! What our patch has brought goes to what we apply, and nothing else does.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{US, entry, ports};
use crate::operations::mend::drift::folded;

/// The entries after the fold.
fn after_fold(
    before: &[ManagedFieldsEntry],
    after: &[ManagedFieldsEntry],
) -> Option<Vec<ManagedFieldsEntry>> {
    let operations = folded(before, after, US, US, "v1")?;
    let mut object = json!({ "metadata": { "managedFields": after } });
    let patch: json_patch::Patch = serde_json::from_value(operations.into()).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    Some(serde_json::from_value(object["metadata"]["managedFields"].take()).unwrap())
}

fn foreign() -> ManagedFieldsEntry {
    entry("kubectl-edit", "Update", &ports(&[7]))
}

#[test]
fn what_the_patch_has_brought_is_applied_from_then_on() {
    let update = |numbers: &[u16]| entry(US, "Update", &ports(numbers));
    let apply = |numbers: &[u16]| entry(US, "Apply", &ports(numbers));
    let status = || ManagedFieldsEntry { subresource: Some("status".to_owned()), ..update(&[1]) };
    let mut old = update(&[2]);
    old.api_version = Some("v1alpha1".to_owned());
    for (before, after, expected) in [
        (
            vec![apply(&[90])],
            vec![foreign(), apply(&[90]), update(&[80])],
            Some(vec![foreign(), apply(&[80, 90])]),
        ),
        // What user code has patched stays patched.
        (
            vec![update(&[1]), apply(&[90])],
            vec![update(&[1, 80]), apply(&[90])],
            Some(vec![update(&[1]), apply(&[80, 90])]),
        ),
        // Nothing is applied any more.
        (vec![foreign()], vec![foreign(), update(&[80])], Some(vec![foreign(), apply(&[80])])),
        (vec![], vec![apply(&[90])], None),
        (vec![update(&[80])], vec![update(&[80]), apply(&[90])], None),
        // The status, another version and another manager are something else.
        (vec![], vec![status(), old.clone(), foreign(), apply(&[90])], None),
    ] {
        let by_operation = |mut entries: Vec<ManagedFieldsEntry>| {
            entries.sort_by_key(|entry| (entry.manager.clone(), entry.operation.clone()));
            entries
        };
        assert_eq!(after_fold(&before, &after).map(by_operation), expected.map(by_operation), "{after:?}");
    }
}

/// For sets of manifests that another tool has made.
#[test]
fn what_another_manager_has_written_is_applied_from_then_on() {
    let theirs = entry("helm", "Update", &ports(&[80]));
    let after = [foreign(), theirs.clone(), entry(US, "Apply", &ports(&[90]))];
    let operations = folded(&[], &after, "helm", US, "v1").expect("something to fold");
    let mut object = json!({ "metadata": { "managedFields": after } });
    json_patch::patch(&mut object, &serde_json::from_value::<json_patch::Patch>(operations.into()).unwrap())
        .unwrap();
    let entries: Vec<ManagedFieldsEntry> =
        serde_json::from_value(object["metadata"]["managedFields"].take()).unwrap();
    assert_eq!(entries, [foreign(), entry(US, "Apply", &ports(&[80, 90]))]);
    assert_eq!(folded(&[], &[theirs], "kubectl", US, "v1"), None);
}

/// A managed set.
pub(super) fn fields() -> impl Strategy<Value = Value> {
    let leaf = Just(json!({}));
    leaf.prop_recursive(4, 24, 3, |below| {
        (proptest::collection::btree_map("f:[abc]", below, 1..4), any::<bool>()).prop_map(
            |(fields, itself)| {
                let mut fields: Map<_, _> = fields.into_iter().collect();
                if itself {
                    fields.insert(".".to_owned(), json!({}));
                }
                Value::Object(fields)
            },
        )
    })
    .prop_map(|mut top| {
        top.as_object_mut().map(|top| top.remove("."));
        top
    })
}

/// The places that a set has.
pub(super) fn places(entries: &[ManagedFieldsEntry], operation: &str) -> BTreeSet<String> {
    fn walk(below: &Map<String, Value>, path: &str, all: &mut BTreeSet<String>) {
        for (key, value) in below.iter().filter(|(key, _)| *key != ".") {
            let (path, value) = (format!("{path}/{key}"), value.as_object().unwrap());
            walk(value, &path, all);
            if value.is_empty() || value.contains_key(".") {
                all.insert(path);
            }
        }
    }
    let mut all = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.operation.as_deref() == Some(operation)) {
        walk(entry.fields_v1.as_ref().unwrap().0.as_object().unwrap(), "", &mut all);
    }
    all
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn no_place_is_lost_and_none_is_made_up(before in fields(), after in fields(), applied in fields()) {
        let (before, apply) = ([entry(US, "Update", &before)], entry(US, "Apply", &applied));
        let after = [entry(US, "Update", &after), apply];
        let had = places(&before, "Update");
        let has = places(&after, "Update");
        let gained: BTreeSet<_> = has.difference(&had).cloned().collect();
        match after_fold(&before, &after) {
            None => prop_assert!(gained.is_empty()),
            Some(folded) => {
                prop_assert!(!gained.is_empty());
                let all: BTreeSet<_> = places(&after, "Apply").union(&gained).cloned().collect();
                prop_assert_eq!(places(&folded, "Apply"), all);
                let left: BTreeSet<_> = has.intersection(&had).cloned().collect();
                prop_assert_eq!(places(&folded, "Update"), left);
            }
        }
    }
}
