//! Reading of objects that have been brought into Go's form: what is absent is empty.

use serde_json::{Map, Value};

/// A field; null where it is absent.
pub(in crate::in_process) fn at<'v>(value: &'v Value, field: &str) -> &'v Value {
    value.get(field).unwrap_or(&Value::Null)
}

/// A text; empty where it is absent.
pub(in crate::in_process) fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    at(value, field).as_str().unwrap_or_default()
}

/// A whole number, if it is there.
pub(in crate::in_process) fn int(value: &Value, field: &str) -> Option<i64> {
    at(value, field).as_i64()
}

/// A yes or no; no where it is absent.
pub(in crate::in_process) fn flag(value: &Value, field: &str) -> bool {
    at(value, field).as_bool().unwrap_or_default()
}

/// The items of a list, with their places.
pub(in crate::in_process) fn items<'v>(
    value: &'v Value,
    field: &str,
) -> impl Iterator<Item = (usize, &'v Value)> + use<'v> {
    at(value, field).as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate()
}

/// How many items or entries a list or a map has.
pub(in crate::in_process) fn count(value: &Value, field: &str) -> usize {
    match at(value, field) {
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    }
}

/// The entries of a map, by their keys.
pub(in crate::in_process) fn entries<'v>(
    value: &'v Value,
    field: &str,
) -> impl Iterator<Item = (&'v str, &'v Value)> + use<'v> {
    let entries: Option<&Map<String, Value>> = at(value, field).as_object();
    entries.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// A part of an object, if it exists. An empty one exists.
pub(in crate::in_process) fn part<'v>(value: &'v Value, field: &str) -> Option<&'v Value> {
    value.get(field).filter(|part| !part.is_null())
}

/// Whether two values are the same where no list and an empty one are the same. A part that is empty is one: maps that
/// are empty have been taken out before.
pub(in crate::in_process) fn same(one: &Value, two: &Value) -> bool {
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    match (one, two) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.iter().all(|(name, left)| same(left, right.get(name).unwrap_or(&Value::Null)))
                && right.iter().all(|(name, right)| left.contains_key(name) || empty(right))
        }
        (left, right) => left == right || empty(left) && empty(right),
    }
}
