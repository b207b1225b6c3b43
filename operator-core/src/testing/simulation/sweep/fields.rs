//! The value of an object that is edited: one that someone else has written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A place in the object and another value for it; none if no written value could be edited.
///
/// Metadata and status are not edited, nor are items of lists that are identified by keys.
pub(super) fn edit(object: &Value, number: u32) -> Option<(String, Value)> {
    let mut written = BTreeMap::new();
    for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
        if entry["subresource"].is_string() {
            continue;
        }
        let fields = entry["fieldsV1"].as_object().into_iter().flatten();
        for (field, below) in fields.filter(|(field, _)| !matches!(field.as_str(), "f:metadata" | "f:status"))
        {
            collect(object, field, below, "", &mut written);
        }
    }
    let chosen = (number as usize).checked_rem(written.len())?;
    let (at, value) = written.into_iter().nth(chosen)?;
    Some((at, other(&value)?))
}

/// The values at and below a field that an entry of the managed fields names.
fn collect(object: &Value, field: &str, below: &Value, path: &str, written: &mut BTreeMap<String, Value>) {
    let Some(name) = field.strip_prefix("f:") else { return };
    let path = within(path, name);
    match below.as_object().filter(|fields| !fields.is_empty()) {
        Some(fields) => {
            fields.iter().for_each(|(field, below)| collect(object, field, below, &path, written))
        }
        None => {
            if let Some((at, value)) = object.pointer(&path).and_then(|value| first(path, value)) {
                written.insert(at, value.clone());
            }
        }
    }
}

/// The first text, number or switch in a value.
fn first(path: String, value: &Value) -> Option<(String, &Value)> {
    match value {
        Value::Object(fields) => {
            fields.iter().next().and_then(|(name, value)| first(within(&path, name), value))
        }
        Value::Array(items) => first(format!("{path}/0"), items.first()?),
        Value::Null => None,
        scalar => Some((path, scalar)),
    }
}

/// The JSON pointer to a field.
fn within(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Another value of the same type.
fn other(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(json!(format!("{text}-somebody"))),
        Value::Number(number) => Some(json!(number.as_i64()? + 1)),
        Value::Bool(on) => Some(json!(!on)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_that_somebody_has_written_has_its_turn() {
        let object = json!({
            "metadata": { "labels": { "a": "1" }, "managedFields": [
                { "fieldsV1": {
                    "f:metadata": { "f:labels": { "f:a": {} } },
                    "f:spec": {
                        "f:exposed": {}, "f:html": {}, "f:rules": {}, "f:empty": {},
                        "f:ports": { r#"k:{"port":80}"#: { "f:port": {} } },
                    },
                } },
                { "subresource": "status", "fieldsV1": { "f:status": { "f:ready": {} }, "f:data": { "f:x": {} } } },
            ] },
            "spec": {
                "exposed": false, "html": "hello", "rules": [{ "port": 7 }], "empty": {}, "ports": [{ "port": 80 }],
                "defaulted": 3,
            },
            "status": { "ready": true },
            "data": { "x": "y" },
        });
        let edits: Vec<_> = (0..4).filter_map(|number| edit(&object, number)).collect();
        let edits: Vec<_> = edits.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
        assert_eq!(
            edits,
            [
                ("/spec/exposed", json!(true)),
                ("/spec/html", json!("hello-somebody")),
                ("/spec/rules/0/port", json!(8)),
                ("/spec/exposed", json!(true)),
            ]
        );
        assert_eq!(edit(&json!({ "metadata": {} }), 0), None);
    }
}
