//! Fields that other programs have written, and that become ours: what isn't desired of them goes with the next apply. Pure.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde_json::{Value, json};

use super::drift::union;
use crate::operations::matcher::{is_applied_by, owned_fields};

/// The operation of a JSON patch that makes everything that managers with these prefixes own a part of what `manager` applies;
/// `None` if they own nothing. Entries of a status, and of another version of the API, stay as they are.
///
/// `managed` is the whole `managedFields` of the object to be patched, `api_version` the one that is applied.
pub(super) fn taken(
    managed: &[ManagedFieldsEntry],
    prefixes: &[&str],
    manager: &str,
    api_version: &str,
) -> Option<Value> {
    let is_here = |entry: &ManagedFieldsEntry| {
        entry.api_version.as_deref() == Some(api_version)
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
    };
    let is_theirs = |entry: &&ManagedFieldsEntry| {
        let by = entry.manager.as_deref().unwrap_or_default();
        by != manager && is_here(entry) && prefixes.iter().any(|prefix| by.starts_with(prefix))
    };
    let (theirs, mut rest): (Vec<_>, Vec<_>) = managed.iter().partition(is_theirs);
    let last = *theirs.last()?;
    let ours = rest.iter().position(|entry| is_here(entry) && is_applied_by(entry, manager, None));
    let ours = ours.map(|at| rest.remove(at));
    let all = theirs.into_iter().chain(ours).filter_map(owned_fields);
    let all = all.reduce(|one, other| Cow::Owned(union(&one, &other)))?;
    let entry = ManagedFieldsEntry {
        manager: Some(manager.to_owned()),
        operation: Some("Apply".to_owned()),
        api_version: Some(api_version.to_owned()),
        time: ours.map_or_else(|| last.time.clone(), |ours| ours.time.clone()),
        fields_type: Some("FieldsV1".to_owned()),
        fields_v1: Some(FieldsV1(Value::Object(all.into_owned()))),
        subresource: None,
    };
    rest.push(&entry);
    Some(json!({ "op": "replace", "path": "/metadata/managedFields", "value": rest }))
}
