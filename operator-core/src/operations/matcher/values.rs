//! Values in an object: where they stand, and whether they are equal as an apply, a PUT or a merge patch sees it. Pure.

use std::fmt;

use serde_json::{Map, Number, Value};

/// A path as a chain of stack frames: walking costs no allocation, only a difference is rendered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    /// The object itself.
    Root,
    /// A field of an object.
    Field(&'a Path<'a>, &'a str),
    /// An item of a list by its position. Never by its key or value, which could be confidential.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            // A name with dots (of a label, say) is set in brackets as the API server does in its own messages.
            Self::Field(parent, name) if name.contains('.') => write!(f, "{parent}[{name}]"),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Removes every `null` field of every object inside `value`, including those inside lists.
///
/// To be called on what is sent: a `null` in an applied object is recorded as an owned field, while
/// [`matches_owned_fields`](super::fields::matches_owned_fields) treats it as absent. Items of lists stay, because they are
/// positions.
pub(crate) fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A field that exists and is not `null`.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// Whether the API server may drop a value from the object it stores: `null`, an empty container, or an object with
/// nothing else in it.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether applying a value may leave no owned field behind. That holds for an empty list, but not for an empty
/// object: the API server records it.
pub(super) fn leaves_no_trace(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => {
            let mut wanted = fields.values().filter(|field| !field.is_null()).peekable();
            wanted.peek().is_some() && wanted.all(leaves_no_trace)
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether an actual value, owned as a whole, is as desired.
///
/// Fields of `desired` may be missing in `actual` if the server drops them; conversely, a field that is only in
/// `actual` is one that is no longer wanted.
pub(super) fn same(desired: &Value, actual: &Value) -> bool {
    match (desired, actual) {
        (Value::Object(desired), Value::Object(actual)) => {
            let mut shared = 0;
            for (name, wanted) in desired.iter().filter(|(_, wanted)| !wanted.is_null()) {
                match present(actual.get(name)) {
                    Some(found) if same(wanted, found) => shared += 1,
                    None if is_nothing(wanted) => {}
                    _ => return false,
                }
            }
            actual.values().filter(|found| !found.is_null()).count() == shared
        }
        (Value::Array(desired), Value::Array(actual)) => {
            desired.len() == actual.len()
                && desired.iter().zip(actual).all(|(desired, actual)| same(desired, actual))
        }
        (Value::Number(desired), Value::Number(actual)) => same_number(desired, actual),
        _ => desired == actual,
    }
}

/// Whether two numbers are equal, however they are written. Integers are compared as integers, because not every
/// integer has its own floating point number.
pub(super) fn same_number(one: &Number, other: &Number) -> bool {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

/// The number as an integer if it is one.
pub(super) fn integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i64() {
        return Some(i128::from(integer));
    }
    if let Some(integer) = number.as_u64() {
        return Some(i128::from(integer));
    }
    // Beyond 2^64 no integer is written without an exponent in an API object, so there floats compare as floats.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= LIMIT).map(|float| float as i128)
}

/// The fields of the metadata that a client decides; the rest is the server's.
const METADATA: [&str; 4] = ["annotations", "finalizers", "labels", "ownerReferences"];

/// Whether replacing `actual` by `desired` would change nothing except what the server decides itself.
///
/// Unlike in JOSDK's `GenericKubernetesResourceMatcher`, additional fields in the actual object are not tolerated: a
/// PUT removes what it doesn't contain, and if that counted as a match, nothing could ever be removed by one. What the
/// server fills in again costs a request that changes nothing. A `status` that `desired` doesn't have is not compared,
/// because most kinds ignore it here.
#[must_use]
pub(crate) fn matches_replacement(desired: &Value, actual: &Value) -> bool {
    let (desired, mut actual) = (decided_by_client(desired), decided_by_client(actual));
    if desired.get("status").is_none() {
        actual.remove("status");
    }
    desired == actual
}

/// Whether replacing the status of `actual` by that of `desired` would change nothing. The rest is ignored.
#[must_use]
pub(crate) fn matches_replaced_status(desired: &Value, actual: &Value) -> bool {
    let status = |object: &Value| {
        let mut status = object.get("status").cloned().unwrap_or_default();
        strip_nulls(&mut status);
        status
    };
    status(desired) == status(actual)
}

/// Whether a merge patch (RFC 7386) leaves `actual` unchanged. With `status_only`, the rest of the patch is ignored.
#[must_use]
pub(crate) fn matches_merged(patch: &Value, actual: &Value, status_only: bool) -> bool {
    let part = |value: &Value| if status_only { value.get("status").cloned() } else { Some(value.clone()) };
    let Some(patch) = part(patch) else { return true };
    let mut before = part(actual).unwrap_or_default();
    strip_nulls(&mut before);
    let mut after = before.clone();
    json_patch::merge(&mut after, &patch);
    before == after
}

fn decided_by_client(object: &Value) -> Map<String, Value> {
    let mut object = object.clone();
    strip_nulls(&mut object);
    let Value::Object(mut fields) = object else { return Map::new() };
    fields.remove("apiVersion");
    fields.remove("kind");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        // An empty map and an empty list are stored as none.
        let is_empty = |value: &Value| {
            value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
        };
        metadata.retain(|name, value| METADATA.contains(&name.as_str()) && !is_empty(value));
    }
    fields
}

/// What is sent to replace `actual` by `desired`: everything but metadata as desired, so that what is not desired is
/// removed, and the metadata of `actual` with the labels, annotations, finalizers and owner references of `desired`
/// added to it or, under the same key or uid, in their place. Nothing is taken out of those, since others write them as
/// well.
///
/// It carries the version of `actual`, so that the server refuses it with 409 after any other change, and the uid. It
/// carries no managed fields: they would remove the ownership of all managers.
///
/// If `desired` has no status, that of `actual` stays: the matcher doesn't compare it, and only kinds without a
/// subresource for it take it from here.
///
/// JOSDK: `GenericResourceUpdater.updateResource`, which has no owner references, because they are in the metadata of
/// `actual` if it was created by the dependent. An object that existed before gets ours here.
#[must_use]
pub fn merged(actual: &Value, desired: &Value) -> Value {
    let mut desired = desired.clone();
    strip_nulls(&mut desired);
    let Value::Object(mut body) = desired else { return Value::Object(Map::new()) };
    for name in ["apiVersion", "kind", "status"] {
        if let Some(kept) = present(actual.get(name)).filter(|_| !body.contains_key(name)) {
            body.insert(name.to_owned(), kept.clone());
        }
    }
    let wanted = body.remove("metadata").unwrap_or_default();
    let mut metadata =
        present(actual.get("metadata")).and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.remove("managedFields");
    for name in ["labels", "annotations"] {
        if let Some(wanted) = wanted.get(name).and_then(Value::as_object) {
            let kept = metadata.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Some(kept) = kept.as_object_mut() {
                kept.extend(wanted.clone());
            }
        }
    }
    add_items(&mut metadata, &wanted, "finalizers", |one, other| one == other);
    add_items(&mut metadata, &wanted, "ownerReferences", |one, other| one.get("uid") == other.get("uid"));
    body.insert("metadata".to_owned(), Value::Object(metadata));
    Value::Object(body)
}

fn add_items(
    metadata: &mut Map<String, Value>,
    wanted: &Value,
    name: &str,
    is_same: impl Fn(&Value, &Value) -> bool,
) {
    let Some(wanted) = wanted.get(name).and_then(Value::as_array).filter(|wanted| !wanted.is_empty()) else {
        return;
    };
    let kept = metadata.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    let Some(kept) = kept.as_array_mut() else { return };
    for item in wanted {
        match kept.iter_mut().find(|kept| is_same(kept, item)) {
            Some(kept) => kept.clone_from(item),
            None => kept.push(item.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn renders_fields_items_and_names_with_dots() {
        let spec = Path::Field(&Path::Root, "spec");
        let ports = Path::Field(&spec, "ports");
        let port = Path::Item(&ports, 2);
        assert_eq!(Path::Field(&port, "name").to_string(), "spec.ports[2].name");
        assert_eq!(Path::Field(&spec, "a.io/b").to_string(), "spec[a.io/b]");
    }

    #[test]
    fn nulls_go_from_objects_and_stay_in_lists() {
        let mut value = json!({"a": null, "b": {"c": null}, "d": [null, {"e": null, "f": 1}]});
        strip_nulls(&mut value);
        assert_eq!(value, json!({"b": {}, "d": [null, {"f": 1}]}));
    }

    #[test]
    fn numbers_are_equal_by_value() {
        for (one, other, equal) in [
            (json!(1), json!(1.0), true),
            (json!(0), json!(-0.0), true),
            (json!(0.5), json!(0.5), true),
            (json!(1), json!(1.5), false),
            (json!(-1), json!(u64::MAX), false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992.0), false),
            (json!(1e300), json!(1e300), true),
        ] {
            assert_eq!(same(&one, &other), equal, "{one} {other}");
            assert_eq!(same(&other, &one), equal, "{other} {one}");
        }
    }

    #[test]
    fn what_is_only_in_the_actual_value_is_a_difference() {
        assert!(same(&json!({"a": 1, "b": {}, "c": null}), &json!({"a": 1})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": {}})));
        assert!(!same(&json!({"a": null}), &json!({"a": 1})));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
    }

    fn actual() -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Thing",
            "metadata": { "name": "a", "uid": "u", "resourceVersion": "7", "labels": { "by": "us" } },
            "spec": { "a": 1, "list": [1, 2] },
            "status": { "phase": "ready", "error": "none" },
        })
    }

    fn check(edit: impl FnOnce(&mut Value), expect: bool) {
        let mut desired = actual();
        edit(&mut desired);
        assert_eq!(matches_replacement(&desired, &actual()), expect, "{desired}");
    }

    #[test]
    fn a_replacement_is_compared_without_what_the_server_decides() {
        check(|_| {}, true);
        check(|desired| desired["metadata"]["resourceVersion"] = "6".into(), true);
        check(|desired| desired["metadata"]["annotations"] = json!({}), true);
        check(|desired| desired["status"] = Value::Null, true);
        check(|desired| desired["spec"]["none"] = Value::Null, true);
    }

    #[test]
    fn a_replacement_that_removes_something_differs() {
        check(|desired| desired["spec"]["list"] = json!([1]), false);
        check(|desired| desired["metadata"]["labels"] = Value::Null, false);
        check(|desired| desired["metadata"]["finalizers"] = json!(["example.com/mine"]), false);
        check(|desired| desired["status"]["phase"] = "gone".into(), false);
    }

    #[test]
    fn a_status_is_compared_by_itself() {
        let mut desired = actual();
        desired["spec"]["a"] = 2.into();
        assert!(matches_replaced_status(&desired, &actual()));
        desired["status"]["error"] = Value::Null;
        assert!(!matches_replaced_status(&desired, &actual()), "a field that is cleared must be sent");
    }

    #[test]
    fn a_merge_patch_matches_when_it_changes_nothing() {
        let is_so = |patch: Value, status_only| matches_merged(&patch, &actual(), status_only);
        assert!(is_so(json!({ "spec": { "a": 1 }, "metadata": { "labels": { "other": null } } }), false));
        assert!(!is_so(json!({ "spec": { "a": 2 } }), false));
        assert!(!is_so(json!({ "status": { "error": null } }), true));
        assert!(is_so(json!({ "spec": { "a": 2 }, "status": { "phase": "ready" } }), true));
        assert!(is_so(json!({ "spec": { "a": 2 } }), true));
    }
}
