//! The older form of the schemas, in one document.

use serde_json::{Map, Value, json};

use super::SCHEMAS;

/// Where references lead.
pub(super) const DEFINITIONS: &str = "#/definitions/";

/// The document.
pub(super) fn document(paths: &Map<String, Value>, schemas: Map<String, Value>) -> Value {
    let definitions: Map<String, Value> =
        schemas.into_iter().map(|(name, schema)| (name, older(schema))).collect();
    json!({
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": "1.36" },
        "paths": paths,
        "definitions": definitions,
    })
}

/// A schema without what the older form doesn't have: defaults, alternatives, null.
fn older(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return schema };
    fields.remove("default");
    // What may be of several forms is called a text there.
    if fields.remove("oneOf").is_some() {
        fields.insert("type".to_owned(), "string".into());
    }
    let is_any = fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if fields.remove("anyOf").is_some() || fields.remove("nullable").is_some() || is_any {
        fields.remove("type");
    }
    if is_any {
        fields.remove("properties");
        fields.remove("items");
    }
    if let Some(Value::Array(all)) = fields.remove("allOf")
        && let [one] = &all[..]
        && let Some(to) = one["$ref"].as_str()
    {
        fields.insert("$ref".to_owned(), to.replace(SCHEMAS, DEFINITIONS).into());
    }
    if let Some(Value::String(to)) = fields.get_mut("$ref") {
        *to = to.replace(SCHEMAS, DEFINITIONS);
    }
    for (name, value) in &mut fields {
        match name.as_str() {
            "properties" | "patternProperties" => {
                if let Value::Object(named) = value {
                    named.values_mut().for_each(|value| *value = older(value.take()));
                }
            }
            "items" | "additionalProperties" | "not" => *value = older(value.take()),
            _ => {}
        }
    }
    Value::Object(fields)
}
