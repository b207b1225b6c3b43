//! Schemas held against others.

use serde_json::{Value, json};

use super::schema::differences;

fn spec(fields: &Value) -> Value {
    json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": fields } } })
}

#[test]
fn a_schema_is_like_itself_with_other_descriptions_and_further_fields() {
    let own = spec(&json!({
        "name": { "type": "string", "description": "The name.", "maxLength": 10, "pattern": "^a" },
        "either": { "x-kubernetes-int-or-string": true },
        "map": { "type": "object", "additionalProperties": { "type": "string" } },
        "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } },
        "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
    }));
    assert_eq!(differences(&own, &own), [""; 0]);
    let mut more = own.clone();
    let fields = &mut more["properties"]["spec"]["properties"];
    fields["name"]["description"] = "Another text.".into();
    fields["list"]["items"]["properties"]["b"] = json!({ "type": "string" });
    fields["further"] = json!({ "type": "string" });
    assert_eq!(differences(&own, &more), [""; 0]);
}

#[test]
fn what_differs_is_named_with_its_path() {
    let own = spec(&json!({
        "gone": { "type": "string" },
        "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } },
        "map": { "type": "object", "additionalProperties": { "type": "string" } },
        "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        "long": { "type": "string", "maxLength": 20 },
        "word": { "type": "string", "enum": ["a", "b"] },
        "object": { "type": "object", "required": ["a"] },
    }));
    let live = spec(&json!({
        "list": { "type": "array", "items": { "type": "object" } },
        "map": { "type": "object" },
        "any": { "type": "object" },
        "long": { "type": "integer" },
        "word": { "type": "string", "enum": ["a"] },
        "object": { "type": "object", "required": ["a", "b"] },
    }));
    assert_eq!(
        differences(&own, &live),
        [
            ".spec.any",
            ".spec.gone",
            ".spec.list[].a",
            ".spec.long",
            ".spec.map.*",
            ".spec.object",
            ".spec.word"
        ]
    );
    assert_eq!(differences(&json!({ "type": "object" }), &json!({ "type": "string" })), ["."]);
}
