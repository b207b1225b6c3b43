//! Whether a schema is structural: the type of each value is known without its alternatives.

use serde_json::{Value, json};

use super::{Found, fields, flag, has, items, text};
use crate::in_process::go::pattern;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// What is not structural.
pub(super) fn check(schema: &Value, path: &str) -> Found {
    let mut found = Found::default();
    invariants(schema, Level::Root, path, &mut found);
    complete(schema, schema, path, path, &mut found);
    found
}

fn invariants(schema: &Value, level: Level, path: &str, found: &mut Found) {
    let of = text(schema, "type");
    let item = schema.get("items").filter(|item| item.is_object());
    if of == "array" && item.is_none() {
        found.required(&format!("{path}.items"), "must be specified");
    }
    if let Some(item) = item {
        invariants(item, Level::Item, &format!("{path}.items"), found);
    }
    for (name, property) in fields(schema, "properties") {
        invariants(property, Level::Field, &format!("{path}.properties[{name}]"), found);
    }
    let others =
        schema.get("additionalProperties").filter(|others| !others.is_null() && **others != json!(false));
    if let Some(others) = others {
        if level == Level::Root {
            found.forbidden(&format!("{path}.additionalProperties"), "must not be used at the root");
        }
        if others.is_object() {
            invariants(others, Level::Field, &format!("{path}.additionalProperties"), found);
        }
    }
    let union = flag(schema, "x-kubernetes-int-or-string");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
    let why = "must be false if x-kubernetes-int-or-string is true";
    if union && preserve {
        found.invalid(&format!("{path}.x-kubernetes-preserve-unknown-fields"), &json!(true), why);
    }
    if union && embedded {
        found.invalid(&format!("{path}.x-kubernetes-embedded-resource"), &json!(true), why);
    }
    let first_of_all = items(schema, "allOf").next().is_some_and(|first| is_union(first.get("anyOf")));
    values(schema, is_union(schema.get("anyOf")), first_of_all, path, found);
    let field = format!("{path}.type");
    if embedded && of != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        match of {
            "" => found.required(&field, why),
            of => found.invalid(&field, &of.into(), why),
        }
    } else if of.is_empty() && !union && !preserve {
        found.required(
            &field,
            match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            },
        );
    }
    if embedded && others.is_some() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        found.forbidden(&format!("{path}.additionalProperties"), why);
    }
    if level == Level::Root && !of.is_empty() && of != "object" {
        found.invalid(&field, &of.into(), "must be object at the root");
    }
    let is_whole = level == Level::Root || embedded;
    for name in ["kind", "apiVersion"] {
        if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name))
            && is_whole
            && text(property, "type") != "string"
        {
            let field = format!("{path}.properties[{name}].type");
            found.invalid(&field, &text(property, "type").into(), "must be string");
        }
    }
    if let Some(metadata) = schema.get("properties").and_then(|properties| properties.get("metadata")) {
        let path = format!("{path}.properties[metadata]");
        if is_whole && text(metadata, "type") != "object" {
            found.invalid(&format!("{path}.type"), &text(metadata, "type").into(), "must be object");
        }
        if level == Level::Root && !is_plain_metadata(metadata) {
            let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            found.forbidden(&path, why);
        }
    }
    if embedded && !preserve && fields(schema, "properties").next().is_none() {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
                   x-kubernetes-preserve-unknown-fields";
        found.required(&format!("{path}.properties"), why);
    }
}

/// Metadata that says nothing, or something of the names only.
fn is_plain_metadata(metadata: &Value) -> bool {
    let names =
        fields(metadata, "properties").all(|(name, _)| matches!(name.as_str(), "name" | "generateName"));
    let words = metadata.as_object().into_iter().flatten();
    names
        && words.map(|(word, _)| word.as_str()).all(|word| matches!(word, "type" | "properties" | "default"))
}

fn is_union(alternatives: Option<&Value>) -> bool {
    alternatives == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

fn values(schema: &Value, skips_any: bool, skips_first: bool, path: &str, found: &mut Found) {
    if !skips_any {
        for (at, alternative) in items(schema, "anyOf").enumerate() {
            nested(alternative, false, &format!("{path}.anyOf[{at}]"), found);
        }
    }
    for (at, alternative) in items(schema, "allOf").enumerate() {
        nested(alternative, skips_first && at == 0, &format!("{path}.allOf[{at}]"), found);
    }
    for (at, alternative) in items(schema, "oneOf").enumerate() {
        nested(alternative, false, &format!("{path}.oneOf[{at}]"), found);
    }
    if has(schema, "not") {
        nested(&schema["not"], false, &format!("{path}.not"), found);
    }
    let pattern = text(schema, "pattern");
    if !pattern.is_empty()
        && let Err(why) = pattern::compile(pattern)
    {
        let why = format!("must be a valid regular expression, but isn't: {why}");
        found.invalid(&format!("{path}.pattern"), &pattern.into(), &why);
    }
}

/// An alternative says nothing that determines a type.
fn nested(schema: &Value, skips_any: bool, path: &str, found: &mut Found) {
    values(schema, skips_any, false, path, found);
    if let Some(item) = schema.get("items").filter(|item| item.is_object()) {
        nested(item, false, &format!("{path}.items"), found);
    }
    for (name, property) in fields(schema, "properties") {
        nested(property, false, &format!("{path}.properties[{name}]"), found);
    }
    for (word, why) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let value = schema.get(word).filter(|value| !value.is_null() && **value != json!(false));
        if value.is_some_and(|value| !matches!(value.as_array(), Some(items) if items.is_empty())) {
            found.forbidden(&format!("{path}.{word}"), why);
        }
    }
    if fields(schema, "properties").any(|(name, _)| name == "metadata") {
        let why = "must not be specified in a nested context";
        found.forbidden(&format!("{path}.properties[metadata]"), why);
    }
}

/// What alternatives speak of is known outside of them, too.
fn complete(alternatives: &Value, schema: &Value, place: &str, path: &str, found: &mut Found) {
    if has(alternatives, "not") {
        one(&alternatives["not"], Some(schema), place, &format!("{path}.not"), found);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        for (at, alternative) in items(alternatives, word).enumerate() {
            one(alternative, Some(schema), place, &format!("{path}.{word}[{at}]"), found);
        }
    }
}

fn one(alternative: &Value, schema: Option<&Value>, place: &str, path: &str, found: &mut Found) {
    let Some(schema) = schema else {
        return found.required(place, &format!("because it is defined in {path}"));
    };
    complete(alternative, schema, place, path, found);
    if let Some(item) = alternative.get("items").filter(|item| item.is_object()) {
        let of = schema.get("items").filter(|of| of.is_object());
        one(item, of, &format!("{place}.items"), &format!("{path}.items"), found);
    }
    for (name, property) in fields(alternative, "properties") {
        let of = schema.get("properties").and_then(|properties| properties.get(name));
        let (place, path) = (format!("{place}.properties[{name}]"), format!("{path}.properties[{name}]"));
        one(property, of, &place, &path, found);
    }
}
