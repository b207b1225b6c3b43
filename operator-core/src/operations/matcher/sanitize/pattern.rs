//! Places in an object: `spec/containers|initContainers/[name]/resources/limits/*`.
//!
//! A segment is a field or several to choose from, `[]` for the items of lists by position, or `[name]` for items by the
//! fields named. `*` at the end is any field.

use serde_json::{Map, Value};

pub(super) type Fields = Map<String, Value>;

/// What is done at a place: with the desired and the actual object that hold a field, and the field's name. Returns
/// whether it has changed something.
pub(super) type Visit<'v> = dyn FnMut(&mut Fields, &Fields, &str) -> bool + 'v;

/// Visits all places of a pattern that exist in both objects, except for the last segment's field, which may be
/// missing. Returns whether anything has been changed.
pub(super) fn each(desired: &mut Value, actual: &Value, pattern: &str, visit: &mut Visit<'_>) -> bool {
    let (segment, rest) = match pattern.split_once('/') {
        Some((segment, rest)) => (segment, Some(rest)),
        None => (pattern, None),
    };
    let mut changed = false;
    match (desired, actual, rest) {
        (Value::Array(desired), Value::Array(actual), Some(rest)) => {
            let keys = segment.trim_matches(['[', ']']);
            for (position, item) in desired.iter_mut().enumerate() {
                if let Some(other) = counterpart(item, position, actual, keys) {
                    changed |= each(item, other, rest, visit);
                }
            }
        }
        (Value::Object(desired), Value::Object(actual), Some(rest)) => {
            for name in segment.split('|') {
                if let (Some(desired), Some(actual)) = (desired.get_mut(name), actual.get(name)) {
                    changed |= each(desired, actual, rest, visit);
                }
            }
        }
        (Value::Object(desired), Value::Object(actual), None) if segment == "*" => {
            for name in actual.keys() {
                changed |= visit(desired, actual, name);
            }
        }
        (Value::Object(desired), Value::Object(actual), None) => {
            for name in segment.split('|') {
                changed |= visit(desired, actual, name);
            }
        }
        _ => {}
    }
    changed
}

/// The item of `actual` that corresponds to a desired one: the only one with the same keys.
fn counterpart<'a>(item: &Value, position: usize, actual: &'a [Value], keys: &str) -> Option<&'a Value> {
    if keys.is_empty() {
        return actual.get(position);
    }
    let is_same = |other: &&Value| {
        let mut keys = keys.split(',');
        keys.all(|key| item.get(key).is_none_or(|wanted| other.get(key) == Some(wanted)))
    };
    // One key is unique, and most often nobody has changed the order.
    if !keys.contains(',')
        && let Some(other) = actual.get(position).filter(is_same)
    {
        return Some(other);
    }
    let mut found = actual.iter().filter(is_same);
    found.next().filter(|_| found.next().is_none())
}
