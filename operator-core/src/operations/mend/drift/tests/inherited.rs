//! What retired field managers of ours have applied becomes ours, and nothing else does.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use proptest::prelude::*;

use super::{
    US, entry,
    fold::{fields, places},
    ports,
};
use crate::operations::mend::drift::{Inherited, inherited};

const RETIRED: [&str; 2] = ["older", "oldest"];
const PARTS: &[Option<&str>] = &[None, Some("status")];

/// The entries once it is ours, and whose it was.
fn after(
    managed: &[ManagedFieldsEntry],
    parts: &[Option<&str>],
) -> Option<(Vec<ManagedFieldsEntry>, Vec<String>)> {
    let Inherited { operations, from } = inherited(managed, US, &RETIRED.map(str::to_owned), parts)?;
    let mut object = serde_json::json!({ "metadata": { "managedFields": managed } });
    let patch: json_patch::Patch = serde_json::from_value(operations.into()).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    let entries = serde_json::from_value(object["metadata"]["managedFields"].take()).unwrap();
    Some((entries, from.into_iter().collect()))
}

fn applied(manager: &str, numbers: &[u16]) -> ManagedFieldsEntry {
    entry(manager, "Apply", &ports(numbers))
}

fn of_status(entry: ManagedFieldsEntry) -> ManagedFieldsEntry {
    ManagedFieldsEntry { subresource: Some("status".to_owned()), ..entry }
}

fn of_version(version: &str, entry: ManagedFieldsEntry) -> ManagedFieldsEntry {
    ManagedFieldsEntry { api_version: Some(version.to_owned()), ..entry }
}

#[test]
fn what_retired_managers_have_applied_becomes_ours() {
    let foreign = || entry("kubectl-edit", "Update", &ports(&[7]));
    let older = |numbers: &[u16]| applied("older", numbers);
    let ours = |numbers: &[u16]| applied(US, numbers);
    for (managed, expected, from) in [
        (vec![foreign(), older(&[80])], vec![foreign(), ours(&[80])], &["older"][..]),
        (vec![older(&[80]), foreign(), ours(&[80, 90])], vec![foreign(), ours(&[80, 90])], &["older"]),
        (vec![ours(&[80]), foreign(), older(&[90])], vec![ours(&[80, 90]), foreign()], &["older"]),
        // Two of them, in one patch.
        (
            vec![older(&[80]), foreign(), applied("oldest", &[90])],
            vec![ours(&[80, 90]), foreign()],
            &["older", "oldest"],
        ),
        // Object and status are applied by themselves.
        (
            vec![older(&[80]), of_status(older(&[1])), of_status(ours(&[2]))],
            vec![ours(&[80]), of_status(ours(&[1, 2]))],
            &["older"],
        ),
        // A set of another version keeps it where it is the only one.
        (vec![of_version("v1alpha1", older(&[80]))], vec![of_version("v1alpha1", ours(&[80]))], &["older"]),
    ] {
        let found = after(&managed, PARTS).unwrap();
        assert_eq!(found, (expected, from.iter().map(ToString::to_string).collect()), "{managed:?}");
    }
}

#[test]
fn everything_else_is_left_alone() {
    for managed in [
        vec![],
        vec![applied(US, &[80]), applied("others", &[90])],
        // Who replaces objects leaves nothing behind that an apply has to take away.
        vec![entry("older", "Update", &ports(&[80]))],
        // It can't be read.
        vec![applied(US, &[80]), entry("older", "Apply", &serde_json::json!(7))],
        // Their fields may have other names.
        vec![applied(US, &[80]), of_version("v1alpha1", applied("older", &[90]))],
    ] {
        assert_eq!(after(&managed, PARTS), None, "{managed:?}");
    }
    assert_eq!(after(&[of_status(applied("older", &[80]))], &[None]), None, "only the object is asked for");
}

#[test]
fn the_cache_s_form_of_a_set_says_as_much() {
    let mut managed = vec![applied(US, &[80]), applied("older", &[90])];
    for entry in &mut managed {
        let fields = entry.fields_v1.as_mut().unwrap();
        fields.0 = fields.0.to_string().into();
    }
    assert_eq!(after(&managed, PARTS).unwrap().0, [applied(US, &[80, 90])]);
}

/// What tells entries apart on the server.
type Identity = (String, String, Option<String>, Option<String>);

/// Entries as a server may have them: no two of one identity.
fn managed() -> impl Strategy<Value = Vec<ManagedFieldsEntry>> {
    let managers = prop::sample::select(vec![US, RETIRED[0], RETIRED[1], "others"]);
    let operations = prop::sample::select(vec!["Apply", "Apply", "Update"]);
    let versions = prop::sample::select(vec!["v1", "v1", "v2"]);
    let one = (managers, operations, any::<bool>(), versions, fields());
    prop::collection::vec(one, 0..9).prop_map(|all| {
        let mut entries: BTreeMap<Identity, ManagedFieldsEntry> = BTreeMap::new();
        for (manager, operation, status, version, fields) in all {
            let entry = of_version(version, entry(manager, operation, &fields));
            let entry = if status { of_status(entry) } else { entry };
            let of_update = (operation == "Update").then(|| version.to_owned());
            let identity = (manager.to_owned(), operation.to_owned(), entry.subresource.clone(), of_update);
            entries.entry(identity).or_insert(entry);
        }
        let mut entries: Vec<_> = entries.into_values().collect();
        entries.sort_by_key(|entry| entry.fields_v1.as_ref().map(|fields| fields.0.to_string()));
        entries
    })
}

/// Whether the entry is an apply by us or by a retired manager.
fn is_of_the_family(entry: &ManagedFieldsEntry) -> bool {
    let by = entry.manager.as_deref().unwrap_or_default();
    entry.operation.as_deref() == Some("Apply") && (by == US || RETIRED.contains(&by))
}

/// The places that have been applied in the family, with their parts and versions.
fn applied_places(managed: &[ManagedFieldsEntry]) -> BTreeSet<(Option<String>, Option<String>, String)> {
    let family = managed.iter().filter(|entry| is_of_the_family(entry));
    let places = family.flat_map(|entry| {
        let of = (entry.subresource.clone(), entry.api_version.clone());
        let places = places(std::slice::from_ref(entry), "Apply").into_iter();
        places.map(move |place| (of.0.clone(), of.1.clone(), place))
    });
    places.collect()
}

fn others(managed: &[ManagedFieldsEntry]) -> Vec<&ManagedFieldsEntry> {
    managed.iter().filter(|entry| !is_of_the_family(entry)).collect()
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn nothing_is_lost_and_nobody_else_s_is_touched(managed in managed()) {
        let is_retired = |entry: &&ManagedFieldsEntry| {
            is_of_the_family(entry) && entry.manager.as_deref() != Some(US)
        };
        let Some((folded, _)) = after(&managed, PARTS) else {
            // What is left is of another version than ours.
            for retired in managed.iter().filter(is_retired) {
                let ours = managed.iter().find(|entry| {
                    is_of_the_family(entry) && !is_retired(entry) && entry.subresource == retired.subresource
                });
                prop_assert!(ours.is_some_and(|ours| ours.api_version != retired.api_version));
            }
            return Ok(());
        };
        prop_assert_eq!(applied_places(&folded), applied_places(&managed));
        prop_assert_eq!(others(&folded), others(&managed));
        for part in PARTS {
            let ours = folded.iter().filter(|entry| {
                is_of_the_family(entry) && !is_retired(entry) && entry.subresource.as_deref() == *part
            });
            prop_assert!(ours.count() <= 1, "two entries that the server takes for one");
        }
        prop_assert_eq!(after(&folded, PARTS), None, "once is enough");
    }
}
