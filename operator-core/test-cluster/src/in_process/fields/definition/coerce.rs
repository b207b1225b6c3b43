//! What happens to a custom object when it is read: unknown fields and nulls are dropped, defaults filled in.

use serde_json::{Map, Value, json};

use super::{
    super::canonical::{canonical_metadata, normal},
    flag,
};

const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops what the schema doesn't know, except for the fields that every object has.
pub(super) fn prune_root(object: &mut Value, schema: &Value) {
    prune_as(object, Some(schema), true);
}

/// Drops what a part of a schema doesn't know.
pub(super) fn prune(value: &mut Value, schema: Option<&Value>) {
    let embedded = schema.is_some_and(|schema| flag(schema, "x-kubernetes-embedded-resource"));
    prune_as(value, schema, embedded);
}

fn prune_as(value: &mut Value, schema: Option<&Value>, embedded: bool) {
    let preserve = schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
    match value {
        Value::Object(object) => prune_object(object, schema, embedded, preserve),
        Value::Array(items) => {
            let of = schema.and_then(|schema| schema.get("items"));
            // Below an unknown field that is kept everything is kept.
            if !preserve || of.is_some() {
                items.iter_mut().for_each(|item| prune(item, of));
            }
        }
        _ => {}
    }
}

fn prune_object(object: &mut Map<String, Value>, schema: Option<&Value>, embedded: bool, preserve: bool) {
    object.retain(|name, value| {
        if embedded && META_FIELDS.contains(&name.as_str()) {
            if embedded && name == "metadata" {
                coerce_metadata(value);
            }
            return true;
        }
        let property = schema.and_then(|schema| schema.get("properties")?.get(name));
        let other = || schema.and_then(|schema| schema.get("additionalProperties"));
        match (property, other()) {
            (Some(property), _) => prune(value, Some(property)),
            (None, Some(Value::Object(_))) => prune(value, other()),
            (None, Some(Value::Bool(true))) => {}
            (None, _) => return preserve,
        }
        true
    });
}

/// Metadata gets Go's form, unless it can't be read: then validation reports it.
fn coerce_metadata(metadata: &mut Value) {
    if let Ok(read) = canonical_metadata(metadata.clone()) {
        *metadata = read;
    }
}

/// Finds embedded objects whose kind is not a text; a missing one is left to validation.
pub(super) fn check_embedded(value: &Value, schema: &Value, path: &str) -> Result<(), String> {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let is_type = name == "apiVersion" || name == "kind";
                if is_type && !value.is_string() && flag(schema, "x-kubernetes-embedded-resource") {
                    return Err(format!("{path}: Invalid value: {value}: must be a string"));
                }
                if let Some(schema) = field(Some(schema), name) {
                    check_embedded(value, schema, &path)?;
                }
            }
            Ok(())
        }
        Value::Array(items) => match schema.get("items") {
            Some(of) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| check_embedded(item, of, &format!("{path}[{index}]"))),
            None => Ok(()),
        },
        _ => Ok(()),
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

/// Drops fields that are null if the schema allows no null and has no default, and writes integers without a point.
pub(super) fn drop_nulls(value: &mut Value, schema: &Value) {
    nulls(value, Some(schema));
}

fn nulls(value: &mut Value, schema: Option<&Value>) {
    match value {
        Value::Number(_) if schema.is_some_and(|schema| schema.get("type") == Some(&json!("integer"))) => {
            *value = normal(value.take());
        }
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
