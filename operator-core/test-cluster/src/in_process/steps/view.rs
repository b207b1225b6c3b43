//! What a controller sees of the store.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::fates::Fates;
use crate::in_process::{
    store::{Path, Resource, Store},
    write::{finalizers, is_deleting},
};

/// The store at the time of a step.
#[derive(Clone, Copy)]
pub(super) struct View<'s> {
    pub(super) store: &'s Store,
    pub(super) now: Timestamp,
    pub(super) fates: &'s Fates,
    /// Why the last step for this object was refused.
    pub(super) failed: Option<&'s str>,
}

/// An object and its place.
pub(super) type Found<'s> = (&'s Path, &'s Arc<Value>);

impl<'s> View<'s> {
    /// The objects of a namespace.
    pub(super) fn list(
        &self,
        resource: &Resource,
        namespace: &'s str,
    ) -> impl Iterator<Item = Found<'s>> + use<'s> {
        self.store.list(resource, Some(namespace))
    }

    /// The objects of a resource that an object controls.
    pub(super) fn controlled(&self, resource: &Resource, owner: &Value) -> Vec<Found<'s>> {
        let uid = text(&owner["metadata"]["uid"]);
        let of_owner = self.store.owned_by(uid).filter(|(of, _)| *of == resource);
        let objects = of_owner.filter_map(|(of, path)| Some((path, self.store.get(of, path)?)));
        objects.filter(|(_, object)| controller(object).is_some_and(|of| of["uid"] == uid)).collect()
    }
}

/// Where Pods are.
pub(super) fn pods() -> Resource {
    Resource::new("", "pods")
}

/// Where ReplicaSets are.
pub(super) fn replica_sets() -> Resource {
    Resource::new("apps", "replicasets")
}

/// A text; empty if there is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number; 0 if there is none.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// The elements of a list.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// An object without one of its finalizers; `None` if it doesn't have it.
pub(super) fn without_finalizer(object: &Value, finalizer: &str) -> Option<Value> {
    let kept: Vec<&str> = finalizers(object).into_iter().filter(|name| *name != finalizer).collect();
    if kept.len() == finalizers(object).len() {
        return None;
    }
    let mut freed = object.clone();
    freed["metadata"]["finalizers"] = kept.into();
    Some(freed)
}

/// The reference to the controller that an object has.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    items(&object["metadata"]["ownerReferences"]).iter().find(|reference| reference["controller"] == true)
}

/// The reference that makes `owner` the controller of an object.
pub(super) fn reference(owner: &Value) -> Value {
    serde_json::json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    })
}

/// Whether a selector of an object's spec selects these labels. An empty one selects nothing here.
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
    let terms = selector["matchLabels"].as_object();
    let expressions = items(&selector["matchExpressions"]);
    if terms.is_none_or(serde_json::Map::is_empty) && expressions.is_empty() {
        return false;
    }
    let has = |(key, value): (&String, &Value)| labels.get(key) == Some(value);
    let fits = |expression: &Value| {
        let value = labels.get(text(&expression["key"]));
        let among = value.is_some_and(|value| items(&expression["values"]).contains(value));
        match text(&expression["operator"]) {
            "In" => among,
            "NotIn" => !among,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    };
    terms.into_iter().flatten().all(has) && expressions.iter().all(fits)
}

/// Oldest first, and by name if they are equally old.
pub(super) fn by_age(objects: &mut [Found<'_>]) {
    objects.sort_by_key(|(path, object)| (text(&object["metadata"]["creationTimestamp"]), *path));
}

/// Whether an object stays.
pub(super) fn stays(object: &Value) -> bool {
    !is_deleting(object)
}

/// A number of things, or a part of all of them, as in `25%`.
pub(super) fn share(value: &Value, of: i64, round_up: bool) -> i64 {
    if let Some(percent) = text(value).strip_suffix('%').and_then(|percent| percent.parse::<i64>().ok()) {
        let part = of.saturating_mul(percent);
        return if round_up { part.saturating_add(99) / 100 } else { part / 100 };
    }
    number(value)
}

/// An object's status without fields that are zero where Go leaves them out.
pub(super) fn counts(fields: &[(&str, i64)]) -> Value {
    let fields = fields.iter().filter(|(_, count)| *count != 0);
    Value::Object(fields.map(|(name, count)| ((*name).to_owned(), (*count).into())).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_select() {
        let labels = json!({ "a": "b", "c": "d" });
        let expression = |key: &str, operator: &str, values: &[&str]| json!({ "matchExpressions": [{ "key": key, "operator": operator, "values": values }] });
        for (selector, selected) in [
            (json!({}), false),
            (json!({ "matchLabels": { "a": "b" } }), true),
            (json!({ "matchLabels": { "a": "x" } }), false),
            (expression("a", "In", &["x", "b"]), true),
            (expression("a", "NotIn", &["x", "b"]), false),
            (expression("z", "NotIn", &["x"]), true),
            (expression("c", "Exists", &[]), true),
            (expression("c", "DoesNotExist", &[]), false),
        ] {
            assert_eq!(selects(&selector, &labels), selected, "{selector}");
        }
    }

    #[test]
    fn shares_are_rounded_to_the_side_that_is_asked_for() {
        assert_eq!((share(&json!("25%"), 3, true), share(&json!("25%"), 3, false)), (1, 0));
        assert_eq!((share(&json!(2), 3, true), share(&Value::Null, 3, false)), (2, 0));
    }
}
