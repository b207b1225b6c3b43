//! What is sent by a PUT, and whether a PUT or a merge patch would change anything. Pure.

use serde_json::{Map, Value};

use super::value::{present, strip_nulls};

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
