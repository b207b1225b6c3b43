//! What an endpoint does to an object between the request and the storage.

use serde_json::{Map, Value};

use super::{
    Endpoint, Origin, Schema, Write,
    canonical::canonical,
    defaults,
    recorded::{Go, RECORDED, at},
    set::Set,
};

/// The fields that an endpoint doesn't write, so that no manager owns them by writing there.
pub(super) fn reset(schema: &Schema, endpoint: Endpoint) -> Set {
    match (&schema.0.origin, endpoint) {
        (_, Endpoint::Other("scale")) => Set::default(),
        (Origin::Custom(definition), Endpoint::Main) if !definition.has_status => Set::default(),
        (Origin::Custom(_), Endpoint::Status) => Set::of(&[&["metadata"], &["spec"]]),
        (Origin::Builtin { .. }, Endpoint::Main) if !has_status(schema) => Set::default(),
        (_, Endpoint::Main | Endpoint::Other(_)) => Set::of(&[&["status"]]),
        (Origin::Builtin { .. }, Endpoint::Status) => match schema.0.kind.kind.as_str() {
            "Deployment" => Set::of(&[&["spec"], &["metadata", "labels"]]),
            "Pod" => {
                Set::of(&[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
            }
            _ => Set::of(&[&["spec"]]),
        },
    }
}

fn has_status(schema: &Schema) -> bool {
    match &schema.0.origin {
        Origin::Builtin { go: Go::Struct(of), .. } => RECORDED.fields(*of).contains_key("status"),
        Origin::Builtin { .. } => false,
        Origin::Custom(definition) => definition.has_status,
    }
}

/// An object without its managed fields, which are stored separately.
pub(super) fn without_managed(mut object: Value) -> Value {
    set_managed(&mut object, None);
    object
}

/// A copy of an object without its managed fields, which are often the greater part of it.
pub(super) fn copy_without_managed(object: &Value) -> Value {
    let Value::Object(fields) = object else { return object.clone() };
    let metadata = |metadata: &Value| match metadata {
        Value::Object(metadata) => {
            let kept = metadata.iter().filter(|(name, _)| *name != "managedFields");
            Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        other => other.clone(),
    };
    let fields = fields.iter().map(|(name, value)| {
        let value = if name == "metadata" { metadata(value) } else { value.clone() };
        (name.clone(), value)
    });
    Value::Object(fields.collect())
}

/// Sets the managed fields.
pub(super) fn set_managed(object: &mut Value, entries: Option<Value>) {
    put(object, "metadata", "managedFields", entries);
}

/// Sets a field of a part of an object, or removes it.
fn put(object: &mut Value, part: &str, field: &str, value: Option<Value>) {
    let Some(part) = object.get_mut(part).and_then(Value::as_object_mut) else { return };
    match value {
        Some(value) => {
            part.insert(field.to_owned(), value);
        }
        None => {
            part.remove(field);
        }
    }
}

/// How an endpoint changes a request: what it doesn't write comes from the live object.
pub(super) fn prepare(write: &Write<'_>, live: Option<&Value>, mut new: Value) -> Value {
    let schema = write.schema;
    let Some(live) = live else {
        create(schema, &mut new);
        return new;
    };
    match (write.endpoint, &schema.0.origin) {
        (Endpoint::Main | Endpoint::Other(_), _) if has_status(schema) => copy(live, &mut new, "status"),
        (Endpoint::Main | Endpoint::Other(_), _) => {}
        (Endpoint::Status, Origin::Custom(_)) => {
            // Who manages its fields is set last of all.
            let mut all = copy_without_managed(live);
            copy(&new, &mut all, "status");
            new = all;
        }
        (Endpoint::Status, Origin::Builtin { .. }) => {
            copy(live, &mut new, "spec");
            if schema.0.kind.kind == "Pod" {
                if at(at(&new, "status"), "qosClass").is_null() {
                    put(&mut new, "status", "qosClass", at(live, "status").get("qosClass").cloned());
                }
                let owners = at(live, "metadata").get("ownerReferences").cloned();
                put(&mut new, "metadata", "ownerReferences", owners);
            }
            if schema.0.kind.kind == "Deployment" {
                let labels = at(live, "metadata").get("labels").cloned();
                put(&mut new, "metadata", "labels", labels);
            }
        }
    }
    if matches!(schema.0.origin, Origin::Builtin { .. }) {
        defaults::update(&schema.0.kind.kind, live, &mut new);
    }
    keep(live, &mut new);
    new
}

fn create(schema: &Schema, new: &mut Value) {
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"] {
        put(new, "metadata", field, None);
    }
    match &schema.0.origin {
        Origin::Custom(_) if !has_status(schema) => {}
        Origin::Custom(_) => {
            new.as_object_mut().map(|new| new.remove("status"));
        }
        Origin::Builtin { go, .. } => {
            if has_status(schema) {
                let empty = canonical(go, Value::Object(Map::new())).unwrap_or_default();
                copy(&empty, new, "status");
            }
            defaults::create(&schema.0.kind.kind, new);
        }
    }
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    let Some(to) = to.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => {
            to.insert(field.to_owned(), value.clone());
        }
        None => {
            to.remove(field);
        }
    }
}

/// The metadata that a request may omit, and that it can't change.
fn keep(live: &Value, new: &mut Value) {
    let old = at(live, "metadata");
    put(new, "metadata", "generation", old.get("generation").cloned());
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if at(at(new, "metadata"), field).is_null() {
            put(new, "metadata", field, old.get(field).cloned());
        }
    }
}
