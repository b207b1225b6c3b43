//! What happens to a custom object when it is read: unknown fields and nulls are dropped, the metadata of embedded objects get
//! Go's form, defaults are filled in.

use serde_json::{Map, Value};

use super::{
    super::{canonical::canonical, recorded::RECORDED},
    flag,
    values::{Cause, cause},
};
use crate::in_process::values::json as as_json;

const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops what the schema doesn't know, except for the fields that every object has.
pub(super) fn prune_root(object: &mut Value, schema: &Value) {
    prune_as(object, Some(schema), true, false);
}

/// Drops what a part of a schema doesn't know.
pub(super) fn prune(value: &mut Value, schema: Option<&Value>) {
    prune_in(value, schema, false);
}

/// The same for an item of a list; `preserve` says whether the list keeps what the schema of its items doesn't know.
fn prune_in(value: &mut Value, schema: Option<&Value>, preserve: bool) {
    let embedded = schema.is_some_and(|schema| flag(schema, "x-kubernetes-embedded-resource"));
    prune_as(value, schema, embedded, preserve);
}

fn prune_as(value: &mut Value, schema: Option<&Value>, embedded: bool, preserve: bool) {
    let own = schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
    let preserve = preserve || own;
    match value {
        Value::Object(object) => prune_object(object, schema, embedded, preserve),
        Value::Array(items) => {
            let of = schema.and_then(|schema| schema.get("items"));
            items.iter_mut().for_each(|item| prune_in(item, of, preserve));
        }
        _ => {}
    }
}

fn prune_object(object: &mut Map<String, Value>, schema: Option<&Value>, embedded: bool, preserve: bool) {
    object.retain(|name, value| {
        if embedded && META_FIELDS.contains(&name.as_str()) {
            return true;
        }
        let property = schema.and_then(|schema| schema.get("properties")?.get(name));
        let other = || schema.and_then(|schema| schema.get("additionalProperties"));
        match (property, other()) {
            (Some(property), _) => prune(value, Some(property)),
            (None, Some(Value::Object(_))) => prune(value, other()),
            // What is allowed without a schema has no fields that are known.
            (None, Some(Value::Bool(true))) => prune(value, None),
            (None, _) => return preserve,
        }
        true
    });
}

/// Gives the metadata of embedded objects Go's form. The error is about the first part of one that isn't what every object
/// has.
pub(super) fn coerce_embedded(value: &mut Value, schema: &Value, path: &str) -> Result<(), Cause> {
    match value {
        Value::Object(object) => {
            let embedded = flag(schema, "x-kubernetes-embedded-resource");
            for (name, value) in object {
                let of = Below::of(schema, path, name);
                match name.as_str() {
                    "apiVersion" | "kind" if embedded && !value.is_string() => {
                        return Err(invalid(&of.path, value, "must be a string"));
                    }
                    "metadata" if embedded => {
                        *value = embedded_metadata(value).map_err(|why| invalid(&of.path, value, &why))?;
                    }
                    _ => {}
                }
                if let Some(schema) = of.schema {
                    coerce_embedded(value, schema, &of.path)?;
                }
            }
            Ok(())
        }
        Value::Array(items) => match schema.get("items") {
            Some(of) => items
                .iter_mut()
                .enumerate()
                .try_for_each(|(index, item)| coerce_embedded(item, of, &format!("{path}[{index}]"))),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn invalid(path: &str, value: &Value, why: &str) -> Cause {
    cause("Invalid", path, format!("Invalid value: {}: {why}", as_json(value, &[])))
}

/// The metadata of an embedded object in Go's form; the error says what isn't of its type.
pub(super) fn embedded_metadata(metadata: &Value) -> Result<Value, String> {
    let Some((go, _)) = RECORDED.metadata() else { return Ok(metadata.clone()) };
    canonical(&go, metadata.clone())
}

/// Calls `found` with the metadata of each embedded object, and where they are.
pub(super) fn each_embedded<'v>(
    value: &'v Value,
    schema: &Value,
    path: &str,
    found: &mut impl FnMut(&'v Value, &str),
) {
    match value {
        Value::Object(object) => {
            let embedded = flag(schema, "x-kubernetes-embedded-resource");
            for (name, value) in object {
                let of = Below::of(schema, path, name);
                if embedded && name == "metadata" {
                    found(value, &of.path);
                }
                if let Some(schema) = of.schema {
                    each_embedded(value, schema, &of.path, found);
                }
            }
        }
        Value::Array(items) => {
            let Some(of) = schema.get("items") else { return };
            for (index, item) in items.iter().enumerate() {
                each_embedded(item, of, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}

/// A field of a value: its schema, if that says anything about it, and where it is.
struct Below<'s> {
    schema: Option<&'s Value>,
    path: String,
}

impl<'s> Below<'s> {
    fn of(schema: &'s Value, path: &str, name: &str) -> Self {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        let others = || schema.get("additionalProperties").filter(|others| others.is_object());
        match (property, others()) {
            (None, Some(others)) => Self { schema: Some(others), path: format!("{path}[{name}]") },
            (property, _) if path.is_empty() => Self { schema: property, path: name.to_owned() },
            (property, _) => Self { schema: property, path: format!("{path}.{name}") },
        }
    }
}

fn is_dropped_null(value: &Value, schema: Option<&Value>) -> bool {
    value.is_null()
        && schema.is_some_and(|schema| !flag(schema, "nullable") && schema.get("default").is_none())
}

/// The schema of a field; `None` if any value fits.
fn field<'a>(schema: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    let schema = schema?;
    let property = schema.get("properties").and_then(|properties| properties.get(name));
    property.or_else(|| schema.get("additionalProperties").filter(|other| other.is_object()))
}

/// Drops fields that are null if the schema allows no null and has no default.
pub(super) fn drop_nulls(value: &mut Value, schema: &Value) {
    nulls(value, Some(schema));
}

fn nulls(value: &mut Value, schema: Option<&Value>) {
    match value {
        Value::Object(object) => {
            object.retain(|name, value| !is_dropped_null(value, field(schema, name)));
            for (name, value) in object {
                nulls(value, field(schema, name));
            }
        }
        Value::Array(items) => {
            let of = schema.and_then(|schema| schema.get("items"));
            items.iter_mut().for_each(|item| nulls(item, of));
        }
        _ => {}
    }
}

/// Fills in the schema's defaults.
pub(super) fn fill(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let Some(default) = property.get("default").filter(|default| !default.is_null()) else {
                    continue;
                };
                match object.get_mut(name) {
                    None => {
                        object.insert(name.clone(), default.clone());
                    }
                    Some(value) if value.is_null() && !flag(property, "nullable") => *value = default.clone(),
                    Some(_) => {}
                }
            }
            for (name, value) in object {
                if let Some(property) = field(Some(schema), name) {
                    default_null(value, property);
                    fill(value, property);
                }
            }
        }
        Value::Array(items) => {
            if let Some(of) = schema.get("items") {
                for item in items {
                    default_null(item, of);
                    fill(item, of);
                }
            }
        }
        _ => {}
    }
}

fn default_null(value: &mut Value, schema: &Value) {
    if value.is_null()
        && !flag(schema, "nullable")
        && let Some(default) = schema.get("default")
    {
        *value = default.clone();
    }
}
