//! The body of a replacement.

use serde_json::{Map, Value};

use crate::operations::matcher::{present, strip_nulls};

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
