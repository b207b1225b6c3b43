//! What other tools have written becomes ours, and nobody else loses anything.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    US, entry,
    fold::{fields, places},
    ports,
};
use crate::operations::mend::take::taken;

/// The entries after everything of these tools was taken.
fn after_taking(managed: &[ManagedFieldsEntry], prefixes: &[&str]) -> Option<Vec<ManagedFieldsEntry>> {
    let operation = taken(managed, prefixes, US, "v1")?;
    let mut object = json!({ "metadata": { "managedFields": managed } });
    let patch: json_patch::Patch = serde_json::from_value(vec![operation].into()).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    Some(serde_json::from_value(object["metadata"]["managedFields"].take()).unwrap())
}

const TOOLS: &[&str] = &["kubectl", "helm", "Helm"];

fn at(mut entry: ManagedFieldsEntry, time: &str) -> ManagedFieldsEntry {
    entry.time = Some(serde_json::from_value(json!(time)).unwrap());
    entry
}

#[test]
fn fields_of_several_tools_are_applied_by_us_from_then_on() {
    let written = |manager: &str, operation: &str, port: u16| entry(manager, operation, &ports(&[port]));
    let autoscaler = written("kube-controller-manager", "Update", 7);
    let all = [
        written("kubectl-client-side-apply", "Update", 80),
        autoscaler.clone(),
        at(written(US, "Apply", 90), "2026-01-01T00:00:00Z"),
        written("kubectl", "Apply", 81),
        written("helm", "Update", 82),
        written("Helm", "Update", 83),
    ];
    let ours = at(entry(US, "Apply", &ports(&[80, 81, 82, 83, 90])), "2026-01-01T00:00:00Z");
    let after = after_taking(&all, TOOLS).expect("something to take");
    assert_eq!(after, [autoscaler.clone(), ours.clone()], "one entry, and the others' as before");
    assert_eq!(taken(&after, TOOLS, US, "v1"), None, "that was all");

    let after = after_taking(&all[3..5], &["helm"]).expect("something to take");
    assert_eq!(after, [written("kubectl", "Apply", 81), entry(US, "Apply", &ports(&[82]))], "only of helm");
    assert_eq!(taken(&[autoscaler, ours], TOOLS, US, "v1"), None);
    assert_eq!(taken(&[], TOOLS, US, "v1"), None);
}

#[test]
fn a_status_another_version_and_our_own_updates_stay() {
    let kubectl = |port: u16| entry("kubectl-edit", "Update", &ports(&[port]));
    let status = ManagedFieldsEntry { subresource: Some("status".to_owned()), ..kubectl(1) };
    let old = ManagedFieldsEntry { api_version: Some("v1alpha1".to_owned()), ..kubectl(2) };
    let our_status = ManagedFieldsEntry {
        subresource: Some("status".to_owned()),
        ..entry(US, "Apply", &json!({ "f:status": {} }))
    };
    let our_old =
        ManagedFieldsEntry { api_version: Some("v1alpha1".to_owned()), ..entry(US, "Apply", &ports(&[90])) };
    let patched = entry(US, "Update", &ports(&[3]));
    let others = [status, old, our_status, our_old, patched];
    assert_eq!(taken(&others, TOOLS, US, "v1"), None);
    let mut all = others.to_vec();
    all.push(kubectl(80));
    let mut expected = others.to_vec();
    expected.push(entry(US, "Apply", &ports(&[80])));
    assert_eq!(after_taking(&all, TOOLS), Some(expected));
}

/// `kubectl` may be the name of an operator's own field manager, or its beginning.
#[test]
fn our_own_fields_are_not_taken_from_us() {
    let ours = [entry(US, "Update", &ports(&[1])), entry(US, "Apply", &ports(&[2]))];
    assert_eq!(taken(&ours, &["u"], US, "v1"), None);
}

fn any_entry() -> impl Strategy<Value = ManagedFieldsEntry> {
    let managers = [US, "kubectl", "kubectl-edit", "helm", "Helm", "other", "my-kubectl"];
    let operation = prop::sample::select(vec!["Apply", "Update"]);
    let rest =
        prop::sample::select(vec![("v1", None), ("v1", Some("")), ("v1", Some("status")), ("v2", None)]);
    (prop::sample::select(managers.to_vec()), operation, rest, fields()).prop_map(
        |(manager, operation, (version, subresource), fields)| ManagedFieldsEntry {
            api_version: Some(version.to_owned()),
            subresource: subresource.map(str::to_owned),
            ..entry(manager, operation, &fields)
        },
    )
}

/// Entries as a server has them: none twice.
fn any_entries() -> impl Strategy<Value = Vec<ManagedFieldsEntry>> {
    prop::collection::vec(any_entry(), 0..7).prop_map(|all| {
        let mut known = BTreeSet::new();
        let mut all = all;
        all.retain(|entry| {
            let part = entry.subresource.clone().unwrap_or_default();
            known.insert((entry.manager.clone(), entry.operation.clone(), entry.api_version.clone(), part))
        });
        all
    })
}

/// The places that these entries own, by whatever operation.
fn owned<'e>(entries: impl IntoIterator<Item = &'e ManagedFieldsEntry>) -> BTreeSet<String> {
    let all = entries.into_iter().cloned().collect::<Vec<_>>();
    let mut owned = places(&all, "Apply");
    owned.extend(places(&all, "Update"));
    owned
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn no_field_is_lost_and_other_managers_keep_theirs(before in any_entries()) {
        let is_theirs = |entry: &&ManagedFieldsEntry| {
            let manager = entry.manager.as_deref().unwrap();
            let is_main = entry.subresource.as_deref().unwrap_or_default().is_empty();
            ["kubectl", "kubectl-edit", "helm", "Helm"].contains(&manager) && is_main
                && entry.api_version.as_deref() == Some("v1")
        };
        let is_ours = |entry: &&ManagedFieldsEntry| {
            (entry.manager.as_deref(), entry.operation.as_deref()) == (Some(US), Some("Apply"))
                && entry.subresource.as_deref().unwrap_or_default().is_empty()
                && entry.api_version.as_deref() == Some("v1")
        };
        let Some(after) = after_taking(&before, TOOLS) else {
            prop_assert!(!before.iter().any(|entry| is_theirs(&entry)));
            return Ok(());
        };
        prop_assert!(before.iter().any(|entry| is_theirs(&entry)));
        prop_assert_eq!(owned(&after), owned(&before), "the union is the same");
        prop_assert_eq!(after.iter().filter(is_ours).count(), 1, "ours is one entry");
        let ours = owned(before.iter().filter(|entry| is_theirs(entry) || is_ours(entry)));
        prop_assert_eq!(owned(after.iter().filter(is_ours)), ours, "ours has all of theirs, and no more");
        let rest = |all: &[ManagedFieldsEntry]| -> Vec<Value> {
            let rest = all.iter().filter(|entry| !is_theirs(entry) && !is_ours(entry));
            rest.map(|entry| json!(entry)).collect()
        };
        prop_assert_eq!(rest(&after), rest(&before), "nobody else has lost or gained anything");
        prop_assert_eq!(taken(&after, TOOLS, US, "v1"), None, "once is enough");
    }
}
