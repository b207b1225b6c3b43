//! Validation against a schema.
//!
//! # Assumptions
//! - Formats are not checked, except for `date-time`: [`modelled`] refuses those that would matter.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{super::Refusal, flag};

/// What is wrong with a value: (reason, field, message).
type Cause = (String, String, String);

/// Refuses a schema that contains more than is modelled here.
pub(super) fn modelled(schema: &Value, path: &str) -> Result<(), Refusal> {
    let Some(schema) = schema.as_object() else { return Ok(()) };
    let refuse = |what: &str| {
        Err(Refusal::NotModelled(format!("{what} in the schema of a custom resource (at {path:?})")))
    };
    for (word, value) in schema {
        match word.as_str() {
            "type"
            | "properties"
            | "additionalProperties"
            | "items"
            | "required"
            | "enum"
            | "nullable"
            | "default"
            | "description"
            | "title"
            | "example"
            | "externalDocs"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "minLength"
            | "maxLength"
            | "minItems"
            | "maxItems"
            | "minProperties"
            | "maxProperties"
            | "anyOf"
            | "oneOf"
            | "allOf"
            | "not"
            | "uniqueItems"
            | "x-kubernetes-preserve-unknown-fields"
            | "x-kubernetes-int-or-string"
            | "x-kubernetes-embedded-resource"
            | "x-kubernetes-list-type"
            | "x-kubernetes-list-map-keys"
            | "x-kubernetes-map-type" => {}
            "x-kubernetes-validations" => return refuse("rules in CEL (x-kubernetes-validations)"),
            "format" => match value.as_str().unwrap_or("") {
                "" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "int8"
                | "int16" | "int" | "float" | "double" | "date-time" | "password" | "int-or-string"
                | "quantity" => {}
                format => return refuse(&format!("the format {format:?}")),
            },
            word => return refuse(&format!("{word:?}")),
        }
    }
    let nested = |value: Option<&Value>, path: String| value.map_or(Ok(()), |value| modelled(value, &path));
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        modelled(property, &format!("{path}.{name}"))?;
    }
    nested(schema.get("items"), format!("{path}[]"))?;
    nested(schema.get("not"), path.to_owned())?;
    nested(schema.get("additionalProperties"), format!("{path}.*"))?;
    for junction in ["anyOf", "oneOf", "allOf"] {
        for alternative in schema.get(junction).and_then(Value::as_array).into_iter().flatten() {
            modelled(alternative, path)?;
        }
    }
    Ok(())
}

/// The parts of an object that its schema doesn't allow.
pub(super) fn validate(schema: &Value, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, object, "", &mut causes);
    duplicates(schema, object, "", &mut causes);
    causes
}

fn walk(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    if value.is_null() && flag(schema, "nullable") {
        return;
    }
    let before = causes.len();
    form(schema, value, path, causes);
    if causes.len() > before {
        return;
    }
    enumeration(schema, value, path, causes);
    limits(schema, value, path, causes);
    junctions(schema, value, path, causes);
    match value {
        Value::Object(object) => fields(schema, object, path, causes),
        Value::Array(items) => {
            if let Some(of) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    walk(of, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

fn invalid(path: &str, value: &Value, message: &str) -> Cause {
    let shown = match value {
        Value::Object(_) | Value::Array(_) | Value::String(_) => value.to_string(),
        Value::Null => "null".to_owned(),
        value => value.to_string(),
    };
    ("FieldValueInvalid".to_owned(), shown_path(path), format!("Invalid value: {shown}: {message}"))
}

/// The root has a name, too.
fn shown_path(path: &str) -> String {
    if path.is_empty() { "<nil>".to_owned() } else { path.to_owned() }
}

fn form(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let wrong = |expected: &str| {
        let message =
            format!("Invalid value: {actual:?}: {path} in body must be of type {expected}: {actual:?}");
        ("FieldValueTypeInvalid".to_owned(), shown_path(path), message)
    };
    if flag(schema, "x-kubernetes-int-or-string") {
        if !matches!(actual, "integer" | "string") {
            causes.push(wrong("integer,string"));
        }
        return;
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("number") if actual == "integer" => {}
        Some(expected) if expected != actual => causes.push(wrong(expected)),
        _ => {}
    }
}

fn enumeration(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let Some(allowed) = schema.get("enum").and_then(Value::as_array) else { return };
    if !allowed.contains(value) {
        let mut allowed: Vec<_> = allowed
            .iter()
            .map(|value| match value {
                Value::String(text) => format!("{text:?}"),
                value => format!("\"{value}\""),
            })
            .collect();
        allowed.sort();
        let message = format!("Unsupported value: {value}: supported values: {}", allowed.join(", "));
        causes.push(("FieldValueNotSupported".to_owned(), shown_path(path), message));
    }
}

fn limits(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let limit = |word: &str| schema.get(word).and_then(Value::as_f64);
    let count = |word: &str| schema.get(word).and_then(Value::as_u64);
    let mut fail = |message: String| causes.push(invalid(path, value, &format!("{path} in body {message}")));
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let (below, above) = (flag(schema, "exclusiveMinimum"), flag(schema, "exclusiveMaximum"));
            if let Some(least) = limit("minimum").filter(|least| number < *least || below && number <= *least)
            {
                let than = if below { "greater than" } else { "greater than or equal to" };
                fail(format!("should be {than} {least}"));
            }
            if let Some(most) = limit("maximum").filter(|most| number > *most || above && number >= *most) {
                let than = if above { "less than" } else { "less than or equal to" };
                fail(format!("should be {than} {most}"));
            }
        }
        Value::String(text) => {
            let length = text.chars().count() as u64;
            if let Some(least) = count("minLength").filter(|least| length < *least) {
                fail(format!("should be at least {least} chars long"));
            }
            if let Some(most) = count("maxLength").filter(|most| length > *most) {
                let message = format!("Too long: may not be more than {most} bytes");
                causes.push(("FieldValueTooLong".to_owned(), shown_path(path), message));
            }
        }
        Value::Array(items) => {
            let length = items.len() as u64;
            if let Some(least) = count("minItems").filter(|least| length < *least) {
                fail(format!("should have at least {least} items"));
            }
            if let Some(most) = count("maxItems").filter(|most| length > *most) {
                let message = format!("Too many: {length}: must have at most {most} items");
                causes.push(("FieldValueTooMany".to_owned(), shown_path(path), message));
            }
        }
        Value::Object(object) => {
            let length = object.len() as u64;
            if let Some(least) = count("minProperties").filter(|least| length < *least) {
                fail(format!("should have at least {least} properties"));
            }
            if let Some(most) = count("maxProperties").filter(|most| length > *most) {
                let message = format!("Too many: {length}: must have at most {most} items");
                causes.push(("FieldValueTooMany".to_owned(), shown_path(path), message));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn junctions(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let alternatives = |word: &str| schema.get(word).and_then(Value::as_array);
    let fits = |schema: &Value| {
        let mut causes = Vec::new();
        walk(schema, value, path, &mut causes);
        causes.is_empty()
    };
    let mut fail =
        |message: &str| causes.push(invalid(path, value, &format!("{path:?} must validate {message}")));
    // The two alternatives of an int-or-string are checked with its form.
    if let Some(any) = alternatives("anyOf")
        && !any.iter().any(fits)
    {
        fail("at least one schema (anyOf)");
    }
    if let Some(one) = alternatives("oneOf")
        && one.iter().filter(|schema| fits(schema)).count() != 1
    {
        fail("one and only one schema (oneOf)");
    }
    if let Some(all) = alternatives("allOf")
        && !all.iter().all(fits)
    {
        fail("all the schemas (allOf)");
    }
    if schema.get("not").is_some_and(fits) {
        causes.push(invalid(path, value, &format!("{path:?} must not validate the schema (not)")));
    }
}

fn fields(schema: &Value, object: &Map<String, Value>, path: &str, causes: &mut Vec<Cause>) {
    let child = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for name in
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !object.contains_key(name) {
            causes.push(("FieldValueRequired".to_owned(), child(name), "Required value".to_owned()));
        }
    }
    embedded(schema, object, path, causes);
    let others = schema.get("additionalProperties").filter(|others| others.is_object());
    for (name, value) in object {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        if let Some(property) = property.or(others) {
            walk(property, value, &child(name), causes);
        }
    }
}

/// An embedded object has a kind.
fn embedded(schema: &Value, object: &Map<String, Value>, path: &str, causes: &mut Vec<Cause>) {
    if !flag(schema, "x-kubernetes-embedded-resource") {
        return;
    }
    for name in ["apiVersion", "kind"] {
        let path = format!("{path}.{name}");
        match object.get(name) {
            None => causes.push(("FieldValueRequired".to_owned(), path, "Required value".to_owned())),
            Some(value @ Value::String(text)) if text.is_empty() => {
                causes.push(invalid(&path, value, "must not be empty"));
            }
            Some(Value::String(_)) => {}
            Some(other) => causes.push(invalid(&path, other, "must be a string")),
        }
    }
}

/// Lists whose items must differ.
fn duplicates(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                if let Some(property) = property.or_else(|| schema.get("additionalProperties")) {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    duplicates(property, value, &path, causes);
                }
            }
        }
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                if let Some(key) = key(schema, item)
                    && !seen.insert(key.to_string())
                {
                    let message = format!("Duplicate value: {key}");
                    causes.push(("FieldValueDuplicate".to_owned(), path.clone(), message));
                }
                if let Some(of) = schema.get("items") {
                    duplicates(of, item, &path, causes);
                }
            }
        }
        _ => {}
    }
}

/// What distinguishes the items of a list, if they must differ.
fn key(schema: &Value, item: &Value) -> Option<Value> {
    match schema.get("x-kubernetes-list-type").and_then(Value::as_str)? {
        "set" => Some(item.clone()),
        "map" => {
            let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array)?;
            let keys = keys.iter().filter_map(Value::as_str);
            let fields = keys.filter_map(|key| Some((key.to_owned(), item.get(key)?.clone())));
            Some(Value::Object(fields.collect()))
        }
        _ => None,
    }
}
