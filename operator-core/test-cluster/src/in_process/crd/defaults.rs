//! Defaults fit their schemas.

use serde_json::Value;

use super::{Found, fields, flag, has};
use crate::in_process::fields::check_default;

/// What is wrong with the defaults of a schema.
pub(super) fn check(schema: &Value, path: &str) -> Found {
    let mut found = Found::default();
    node(schema, path, false, &mut found);
    found
}

fn node(schema: &Value, path: &str, in_meta: bool, found: &mut Found) {
    if has(schema, "default") && !in_meta {
        let path = format!("{path}.default");
        let (is_pruned, causes) = check_default(schema, &schema["default"], &path);
        if !is_pruned {
            found.invalid(&path, &schema["default"], "must not have unknown fields");
        }
        found.causes.extend(causes);
    }
    if let Some(item) = schema.get("items").filter(|item| item.is_object()) {
        node(item, &format!("{path}.items"), in_meta, found);
    }
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    for (name, property) in fields(schema, "properties") {
        let is_meta = embedded && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        node(property, &format!("{path}.properties[{name}]"), in_meta || is_meta, found);
    }
}
