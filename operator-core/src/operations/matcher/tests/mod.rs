//! Objects as the API server stores them, with the managed fields it records.

mod cases;
mod choice;
mod digest;
mod empties;
mod entries;
mod generic;
mod kinds;
mod malformed;
mod merged;
mod model;
mod property;
mod replaced;
mod sanitize;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde_json::{Value, json};

use super::{Match, matches_owned_fields, still_owned};

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
    of_tree
}

/// Whether all that was applied is still owned, by a set that is text.
fn is_owned(desired: &Value, owned: &Value) -> bool {
    still_owned(desired, &[applied(None, owned.to_string().into())], MANAGER).is_equal()
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
