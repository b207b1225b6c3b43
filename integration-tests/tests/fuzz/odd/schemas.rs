//! Objects with fields that their schema doesn't know, in lists, maps and embedded objects, and with metadata of any form.

use integration_tests::prelude::*;

use super::{Ask, Story, definition, object, path_of};

const REQUESTS: usize = 10;
const NAMES: [&str; 5] = ["a", "b", "known", "metadata", "kind"];

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let kind = format!("Unknown{seed}");
    let schema = schema(random, 3, true);
    let path = path_of(&kind);
    let mut asks = Vec::new();
    for number in 0..REQUESTS {
        let name = format!("o{}", number % 4);
        let body = object(&kind, &name, &value(random, &schema, 4));
        let validation = random.pick(&["Warn", "Strict", "Ignore"]);
        asks.push(match random.below(5) {
            0 | 1 => Ask::new("POST", format!("{path}?fieldManager=t&fieldValidation={validation}"), &body),
            2 => Ask::new("POST", format!("{path}?dryRun=All&fieldValidation=Strict"), &body),
            3 => {
                let patch = json!({"spec": body["spec"]});
                Ask::new(
                    "MERGE",
                    format!("{path}/{name}?fieldManager=m&fieldValidation={validation}"),
                    &patch,
                )
            }
            _ => Ask::new("APPLY", format!("{path}/{name}?fieldManager=a&force=true"), &body),
        });
    }
    Story { definition: Some(definition(&kind, &schema, &json!({}))), asks, ..Story::default() }
}

/// A random structural schema.
fn schema(random: &mut Random, depth: usize, is_object: bool) -> Value {
    let roll = if is_object { random.below(50) } else { random.below(100) };
    let keeps = random.chance(35);
    let mut schema = match roll {
        _ if depth == 0 && !is_object => {
            return random.pick(&[
                json!({"type": "string"}),
                json!({"type": "integer"}),
                json!({"type": "object"}),
                json!({"type": "string", "nullable": true}),
                json!({"x-kubernetes-preserve-unknown-fields": true}),
                json!({"x-kubernetes-int-or-string": true}),
            ]);
        }
        0..15 => {
            let mut embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true});
            if keeps || random.chance(50) {
                embedded["x-kubernetes-preserve-unknown-fields"] = true.into();
            }
            if random.chance(60) || embedded.get("x-kubernetes-preserve-unknown-fields").is_none() {
                embedded["properties"] =
                    json!({"spec": self::schema(random, depth.saturating_sub(1), false)});
            }
            return embedded;
        }
        15..40 => {
            let mut properties = serde_json::Map::new();
            for name in NAMES.iter().take(3) {
                if random.chance(70) {
                    properties
                        .insert((*name).to_owned(), self::schema(random, depth.saturating_sub(1), false));
                }
            }
            json!({"type": "object", "properties": properties})
        }
        40..50 => {
            json!({"type": "object", "additionalProperties": self::schema(random, depth.saturating_sub(1), false)})
        }
        50..90 => json!({"type": "array", "items": self::schema(random, depth.saturating_sub(1), false)}),
        _ => return json!({"type": "string"}),
    };
    if keeps {
        schema["x-kubernetes-preserve-unknown-fields"] = true.into();
    }
    schema
}

/// A random value that mostly has the types of a schema.
fn value(random: &mut Random, schema: &Value, depth: usize) -> Value {
    if random.chance(4) {
        return random.pick(&[Value::Null, json!({}), json!([]), json!("x"), json!(1)]);
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        return embedded(random, schema, depth);
    }
    match schema["type"].as_str() {
        Some("string") => random.pick(&[json!("x"), json!(""), json!("y")]),
        Some("integer") => json!(random.below(3)),
        Some("array") => {
            (0..random.below(3)).map(|_| value(random, &schema["items"], depth.saturating_sub(1))).collect()
        }
        Some("object") => {
            let mut fields = serde_json::Map::new();
            for name in NAMES {
                let of = &schema["properties"][name];
                let others = &schema["additionalProperties"];
                if random.chance(if of.is_null() && others.is_null() { 25 } else { 60 }) {
                    let value = match (of.is_object(), others.is_object()) {
                        (true, _) => value(random, of, depth.saturating_sub(1)),
                        (_, true) => value(random, others, depth.saturating_sub(1)),
                        _ => anything(random, depth.saturating_sub(1)),
                    };
                    fields.insert(name.to_owned(), value);
                }
            }
            Value::Object(fields)
        }
        _ => anything(random, depth.saturating_sub(1)),
    }
}

/// A random value of any form.
pub(super) fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.chance(50)),
        2 => json!(random.below(5)),
        3 => json!("x"),
        4 => json!(0.5),
        5 => (0..random.below(3)).map(|_| anything(random, depth - 1)).collect(),
        _ => {
            let mut fields = serde_json::Map::new();
            for name in NAMES {
                if random.chance(30) {
                    fields.insert(name.to_owned(), anything(random, depth - 1));
                }
            }
            Value::Object(fields)
        }
    }
}

fn embedded(random: &mut Random, schema: &Value, depth: usize) -> Value {
    let mut object = serde_json::Map::new();
    if random.chance(90) {
        let version = random.pick(&["v1", "apps/v1", "v1", "v1", "a/b/c", ""]);
        object.insert("apiVersion".to_owned(), json!(version));
    }
    if random.chance(90) {
        let kind = random.pick(&[json!("ConfigMap"), json!("Pod"), json!("Not Valid"), json!(1)]);
        object.insert("kind".to_owned(), if random.chance(80) { json!("ConfigMap") } else { kind });
    }
    if random.chance(75) {
        // Of several mistakes the real server tells any one.
        let is_right = object.get("kind").is_some_and(Value::is_number);
        object.insert("metadata".to_owned(), metadata(random, is_right));
    }
    let of = &schema["properties"]["spec"];
    if random.chance(60) {
        let spec = if of.is_object() { value(random, of, depth.saturating_sub(1)) } else { json!({"x": 1}) };
        object.insert("spec".to_owned(), spec);
    }
    if random.chance(30) {
        object.insert("more".to_owned(), anything(random, 1));
    }
    Value::Object(object)
}

/// The metadata of an embedded object: as it should be, nothing, or with one mistake.
fn metadata(random: &mut Random, mut is_right: bool) -> Value {
    if !is_right && random.chance(8) {
        return random.pick(&[Value::Null, json!({}), json!(1), json!("x"), json!([]), json!(true)]);
    }
    let mut metadata = json!({"name": "x"});
    for (field, values) in FIELDS {
        if random.chance(18) {
            let values: Value = serde_json::from_str(values).expect("the values are JSON");
            let right = if is_right || random.chance(70) { 2 } else { values.as_array().map_or(0, Vec::len) };
            let which = random.below(right);
            is_right |= which >= 2;
            metadata[*field] = values[which].clone();
        }
    }
    metadata
}

/// Values of each field: the first two are right, or mean nothing.
const FIELDS: &[(&str, &str)] = &[
    ("name", r#"["x", null, "a/b", "..", 1, "X Y", {}]"#),
    ("generateName", r#"["x-", null, "a%", ".", 1]"#),
    ("namespace", r#"["default", "", "Not_Valid", 5, []]"#),
    (
        "creationTimestamp",
        r#"[null, "2024-01-01T00:00:00Z", "x", 5, "2024-01-01T00:00:00.5+01:00", "0001-01-01T00:00:00Z"]"#,
    ),
    ("deletionTimestamp", r#"[null, "2024-01-01T00:00:00Z", "2024-01-01t00:00:00z"]"#),
    ("deletionGracePeriodSeconds", r#"[null, 5, "x", 1.5]"#),
    ("generation", r#"[0, 3, -1, "x", 1.5]"#),
    ("labels", r#"[{}, {"a": "b"}, null, {"a": 1}, {"a b": "c"}, {"a": "b c"}, {"a": null}, [], "x"]"#),
    ("annotations", r#"[{}, {"A/b": "any thing"}, null, {"a": {}}, {"a b": ""}, 1]"#),
    ("finalizers", r#"[[], ["a/b"], null, ["a b"], ["orphan", "foregroundDeletion"], [1], "x"]"#),
    (
        "ownerReferences",
        r#"[[], [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"}], null, [{}], [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "u", "x": 1}], [1], [{"name": 1}], [{"controller": true, "kind": "A", "apiVersion": "a/b/c"}, {"controller": true, "kind": "B", "apiVersion": "v1", "name": "b", "uid": "v"}]]"#,
    ),
    (
        "managedFields",
        r#"[[], null, [{"manager": "m", "operation": "Apply"}], [{"manager": "m"}], [{"operation": "Update", "fieldsType": "X"}], "x"]"#,
    ),
    ("uid", r#"["u", "", 1, null]"#),
    ("resourceVersion", r#"["1", "", 1, null]"#),
    ("selfLink", r#"["/x", "", 1]"#),
    ("unknown", r#"["x", {"a": 1}, null]"#),
    ("clusterName", r#"["x", ""]"#),
];
