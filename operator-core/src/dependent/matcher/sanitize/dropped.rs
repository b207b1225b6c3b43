//! Zero values that were applied, and that the server stores as nothing.

use serde_json::{Map, Value};

use super::is_zero;
use crate::operations::matcher::present;

/// Takes the zero values out of `desired` that are owned and that `actual` doesn't have.
///
/// What is owned was sent. If someone else had removed it since, it would no longer be owned. So it was the server that
/// has dropped it, and will again: an empty environment variable, `hostNetwork: false`. What is not owned stays,
/// because in other types `false` is not the same as nothing, and has to be sent once.
pub(super) fn drop_zeros(desired: &mut Value, actual: &Value, owned: &Map<String, Value>) -> bool {
    // The server drops nothing of metadata but empty containers, and what names the object is never owned.
    let Some(fields) = desired.as_object_mut() else { return false };
    let mut changed = false;
    for (name, value) in fields.iter_mut().filter(|(name, _)| *name != "metadata") {
        if let Some(below) = owned.get(&format!("f:{name}")) {
            changed |= node(value, actual.get(name), below);
        }
    }
    changed
}

/// The value itself is no zero: those are dropped by their parent.
fn node(desired: &mut Value, actual: Option<&Value>, owned: &Value) -> bool {
    let (Some(actual), Some(owned)) = (present(actual), owned.as_object()) else { return false };
    if owned.is_empty() || !has_zeros(desired) {
        return false;
    }
    match desired {
        Value::Object(fields) => object(fields, actual, owned),
        Value::Array(items) => {
            let mut changed = false;
            for item in items.iter_mut().filter(|item| has_zeros(item)) {
                let Some((key, below)) = key_of(item, owned) else { continue };
                let mut found = actual.as_array().into_iter().flatten().filter(|actual| has(actual, &key));
                if let (Some(actual), None) = (found.next(), found.next()) {
                    changed |= node(item, Some(actual), below);
                }
            }
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn object(fields: &mut Map<String, Value>, actual: &Value, owned: &Map<String, Value>) -> bool {
    let before = fields.len();
    fields.retain(|name, value| {
        let is_dropped =
            is_zero(value) && present(actual.get(name)).is_none() && owned.contains_key(&format!("f:{name}"));
        !is_dropped
    });
    let mut changed = fields.len() != before;
    for (name, value) in fields.iter_mut().filter(|(_, value)| has_zeros(value)) {
        if let Some(below) = owned.get(&format!("f:{name}")) {
            changed |= node(value, actual.get(name), below);
        }
    }
    changed
}

/// Whether there is a zero value below: most objects have none or few, and searching for keys is expensive.
fn has_zeros(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().any(|field| is_zero(field) || has_zeros(field)),
        Value::Array(items) => items.iter().any(has_zeros),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The one key of a list's managed set that identifies this desired item, and what is owned of the item. A key field
/// with a default may be missing in the item, but is not owned then.
fn key_of<'o>(item: &Value, owned: &'o Map<String, Value>) -> Option<(Map<String, Value>, &'o Value)> {
    let mut found = owned.iter().filter_map(|(key, below)| {
        let key: Map<String, Value> = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        let names_it = !key.is_empty()
            && key.iter().all(|(field, value)| match present(item.get(field)) {
                Some(wanted) => wanted == value,
                None => below.get(format!("f:{field}")).is_none(),
            });
        names_it.then_some((key, below))
    });
    match (found.next(), found.next()) {
        (found, None) => found,
        _ => None,
    }
}

fn has(item: &Value, key: &Map<String, Value>) -> bool {
    key.iter().all(|(field, value)| item.get(field) == Some(value))
}
