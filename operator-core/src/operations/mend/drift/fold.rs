//! Moves what a JSON patch has made ours into the entry of our applies.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value, json};

use crate::operations::matcher::{is_applied_by, owned_fields};

type Fields = Map<String, Value>;

/// The operations of a JSON patch of `managedFields` that fold what our `Update` entry has gained since `before` into
/// our `Apply` entry, like client-go's `csaupgrade`, which folds all of it; `None` if there is nothing to fold. What
/// user code has written by other patches under the same name stays as it is.
///
/// `after` is the whole `managedFields` of the object to be patched, `api_version` the one that is applied.
pub(in crate::operations) fn folded(
    before: &[ManagedFieldsEntry],
    after: &[ManagedFieldsEntry],
    manager: &str,
    api_version: &str,
) -> Option<Vec<Value>> {
    let is_updated = |entry: &ManagedFieldsEntry| {
        entry.manager.as_deref() == Some(manager)
            && entry.operation.as_deref() == Some("Update")
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
            && entry.api_version.as_deref() == Some(api_version)
    };
    let at = after.iter().position(is_updated)?;
    let updated = owned_fields(&after[at])?;
    let earlier = before.iter().find(|entry| is_updated(entry)).and_then(owned_fields).unwrap_or_default();
    let gained = without(&updated, &earlier);
    if gained.is_empty() {
        return None;
    }
    let rest = without(&updated, &gained);
    let path = |at: usize, below: &str| format!("/metadata/managedFields/{at}{below}");
    let is_applied = |entry: &ManagedFieldsEntry| {
        is_applied_by(entry, manager, None) && entry.api_version.as_deref() == Some(api_version)
    };
    let mut operations = Vec::new();
    match after.iter().position(is_applied) {
        Some(applied) => {
            let all = union(&*owned_fields(&after[applied])?, &gained);
            operations.push(json!({ "op": "replace", "path": path(applied, "/fieldsV1"), "value": all }));
        }
        None => operations.push(json!({ "op": "add", "path": "/metadata/managedFields/-", "value": {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": api_version,
            "time": after[at].time,
            "fieldsType": "FieldsV1",
            "fieldsV1": gained,
        } })),
    }
    operations.push(if rest.is_empty() {
        json!({ "op": "remove", "path": path(at, "") })
    } else {
        json!({ "op": "replace", "path": path(at, "/fieldsV1"), "value": rest })
    });
    Some(operations)
}

/// Whether a set contains the place itself: there is nothing below it, or the set says so.
pub(super) fn has_itself(below: &Fields) -> bool {
    below.is_empty() || below.contains_key(".")
}

/// What is in `one` and not in `other`.
fn without(one: &Fields, other: &Fields) -> Fields {
    let mut left = Fields::new();
    for (key, below) in one.iter().filter(|(key, _)| *key != ".") {
        let (below, also) = (below.as_object(), other.get(key).and_then(Value::as_object));
        let Some(below) = below else { continue };
        let rest = match also {
            None => Some(below.clone()),
            Some(also) => {
                let mut rest = without(below, also);
                let itself = has_itself(below) && !has_itself(also);
                if itself && !rest.is_empty() {
                    rest.insert(".".to_owned(), json!({}));
                }
                (itself || !rest.is_empty()).then_some(rest)
            }
        };
        left.extend(rest.map(|rest| (key.clone(), Value::Object(rest))));
    }
    left
}

/// What is in `one` or in `other`.
fn union(one: &Fields, other: &Fields) -> Fields {
    let mut all = one.clone();
    for (key, below) in other.iter().filter(|(key, _)| *key != ".") {
        let Some(below) = below.as_object() else { continue };
        let both = match one.get(key).and_then(Value::as_object) {
            None => below.clone(),
            Some(known) => {
                let mut both = union(known, below);
                both.remove(".");
                if !both.is_empty() && (has_itself(known) || has_itself(below)) {
                    both.insert(".".to_owned(), json!({}));
                }
                both
            }
        };
        all.insert(key.clone(), Value::Object(both));
    }
    all
}
