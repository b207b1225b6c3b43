//! Schemas held against others.

use serde_json::{Value, json};

use super::schema::{Difference, Effect, differences};

fn told(own: &Value, live: &Value) -> Vec<String> {
    let tell = |Difference { at, effect }: Difference| match effect {
        Effect::Pruned => format!("{at}: pruned"),
        Effect::Refused(why) => format!("{at}: {why}"),
    };
    differences(own, live).into_iter().map(tell).collect()
}

fn spec(fields: &Value) -> Value {
    json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": fields } } })
}

#[test]
fn a_schema_is_like_itself_and_like_one_that_takes_more() {
    let own = spec(&json!({
        "name": { "type": "string", "maxLength": 10, "pattern": "^a" },
        "number": { "type": "integer", "minimum": 1 },
        "either": { "x-kubernetes-int-or-string": true },
        "word": { "type": "string", "enum": ["a", "b"] },
        "map": { "type": "object", "additionalProperties": { "type": "string" } },
        "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } },
        "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
    }));
    assert_eq!(told(&own, &own), [""; 0]);
    let wider = spec(&json!({
        "name": { "type": "string", "maxLength": 20 },
        "number": { "type": "number" },
        "either": { "x-kubernetes-int-or-string": true },
        "word": { "type": "string", "enum": ["a", "b", "c"] },
        "map": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        "list": { "type": "array", "items": { "type": "object", "additionalProperties": true } },
        "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        "further": { "type": "string" },
    }));
    assert_eq!(told(&own, &wider), [""; 0]);
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    assert_eq!(told(&own, &anything), [""; 0]);
}

#[test]
fn what_is_dropped_is_named_with_its_path() {
    let own = spec(&json!({
        "gone": { "type": "string" },
        "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } },
        "map": { "type": "object", "additionalProperties": { "type": "string" } },
        "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
    }));
    let live = spec(&json!({
        "list": { "type": "array", "items": { "type": "object" } },
        "map": { "type": "object" },
        "any": { "type": "object" },
    }));
    assert_eq!(
        told(&own, &live),
        [".spec.any.*: pruned", ".spec.gone: pruned", ".spec.list[].a: pruned", ".spec.map.*: pruned"]
    );
}

#[test]
fn what_is_refused_is_named_with_its_reason() {
    let own = json!({ "type": "object", "required": ["a"], "properties": {
        "a": { "type": "string" },
        "either": { "x-kubernetes-int-or-string": true },
        "long": { "type": "string", "maxLength": 20 },
        "few": { "type": "array", "items": { "type": "string" } },
        "word": { "type": "string", "enum": ["a", "b", null] },
        "free": { "type": "string" },
        "named": { "type": "string" },
    }});
    let live = json!({ "type": "object", "required": ["a", "b", "c"], "properties": {
        "a": { "type": "integer" },
        "b": { "type": "string" },
        "c": { "type": "string", "default": "c" },
        "either": { "type": "string" },
        "long": { "type": "string", "maxLength": 10 },
        "few": { "type": "array", "minItems": 1, "items": { "type": "string" } },
        "word": { "type": "string", "enum": ["a"] },
        "free": { "type": "string", "enum": ["x"] },
        "named": { "type": "string", "pattern": "^n" },
    }});
    assert_eq!(
        told(&own, &live),
        [
            ".b: it is required there, and the type may leave it out",
            ".a: it is of type `integer` there, and in the type of type `string`",
            ".either: it is of type `string` there, and in the type an integer or a string",
            ".few: its `minItems` is 1 there, and the type has none",
            ".free: it can only be \"x\" there, and anything in the type",
            ".long: its `maxLength` is 10 there, and 20 in the type",
            ".named: it has to match `^n` there, and the type says nothing of that",
            ".word: it can't be \"b\" there",
        ]
    );
}

#[test]
fn a_map_of_any_names_takes_the_fields_of_the_type_if_their_values_fit() {
    let own = spec(&json!({ "a": { "type": "string" }, "b": { "type": "integer" } }));
    let live = json!({ "type": "object", "properties": { "spec": {
        "type": "object", "additionalProperties": { "type": "string" },
    }}});
    assert_eq!(
        told(&own, &live),
        [".spec.b: it is of type `string` there, and in the type of type `integer`"]
    );
}
