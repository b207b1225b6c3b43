//! Objects as the API server stores them, with the managed fields it records.

mod empties;
mod entries;
mod kinds;
mod malformed;
mod model;
mod property;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde_json::{Value, json};

use super::{Look, Match, look_beside, matches_owned_fields};
use crate::cache::tests::known::scanned;

const MANAGER: &str = "webpage-operator";

/// The entry of an apply by [`MANAGER`].
fn applied(subresource: Option<&str>, fields: Value) -> ManagedFieldsEntry {
    ManagedFieldsEntry {
        fields_type: Some("FieldsV1".to_owned()),
        fields_v1: Some(FieldsV1(fields)),
        manager: Some(MANAGER.to_owned()),
        operation: Some("Apply".to_owned()),
        subresource: subresource.map(str::to_owned),
        ..ManagedFieldsEntry::default()
    }
}

/// Matches against one entry for the main resource.
fn matched(desired: &Value, actual: &Value, owned: Value) -> Match {
    let as_text = applied(None, owned.to_string().into());
    let of_text = matches_owned_fields(desired, actual, std::slice::from_ref(&as_text), MANAGER, None);
    let of_tree = matches_owned_fields(desired, actual, &[applied(None, owned)], MANAGER, None);
    assert_eq!(of_text, of_tree, "owned fields are the same as text");
    let look = look(desired, actual, &as_text);
    let fits = match look {
        Look::Equal => of_tree.is_equal(),
        Look::Another => !of_tree.is_equal(),
        Look::Unsure => true,
    };
    assert!(fits, "surely {look:?}, and yet {of_tree:?}: {desired} beside {actual}");
    of_tree
}

/// What is said with a look beside the text.
fn look(desired: &Value, actual: &Value, entry: &ManagedFieldsEntry) -> Look {
    let Some(fields) = entry.fields_v1.as_ref().and_then(|fields| fields.0.as_str()) else {
        return Look::Unsure;
    };
    let (mut actual, mut entry) = (actual.clone(), json!(entry));
    let (Ok(fields), Some(metadata)) = (
        serde_json::from_str::<Value>(fields),
        actual.as_object_mut().map(|actual| actual.entry("metadata").or_insert_with(|| json!({}))),
    ) else {
        return Look::Unsure;
    };
    entry["fieldsV1"] = fields;
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("managedFields".to_owned(), json!([entry]));
    }
    let kept = scanned(&actual.to_string(), MANAGER);
    let mut wanted = desired.clone();
    super::strip_nulls(&mut wanted);
    let look = kept
        .as_ref()
        .and_then(|kept| kept.applied_by(MANAGER).map(|applied| look_beside(&wanted, kept.text(), &applied)));
    look.unwrap_or(Look::Unsure)
}

/// The same for the content of `spec`.
#[expect(clippy::needless_pass_by_value, reason = "literals read better without a reference")]
fn matched_spec(desired: Value, actual: Value, owned: Value) -> Match {
    matched(&json!({"spec": desired}), &json!({"spec": actual}), json!({"f:spec": owned}))
}

fn differs(paths: &[&str]) -> Match {
    Match::Differs(paths.iter().map(|path| (*path).to_owned()).collect())
}

/// A value with one place of it set, by JSON pointer; the place's parent has to be there.
fn with(value: &Value, pointer: &str, new: Value) -> Value {
    let mut value = value.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) => {
            fields.insert(name.replace("~1", "/"), new);
        }
        Value::Array(items) if name == "-" => items.push(new),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = new,
        other => panic!("{pointer} is in no container: {other}"),
    }
    value
}

/// A value without one place of it.
fn without(value: &Value, pointer: &str) -> Value {
    let mut value = value.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) => assert!(fields.remove(&name.replace("~1", "/")).is_some(), "{pointer}"),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        other => panic!("{pointer} is in no container: {other}"),
    }
    value
}
