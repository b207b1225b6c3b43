//! Definitions of custom kinds.

use serde_json::{Map, Value, json};

use super::missing;

/// The names that follow from others, and no conversion.
pub(super) fn fill(object: &mut Map<String, Value>) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let empty = |names: &Map<String, Value>, field: &str| {
            names.get(field).and_then(Value::as_str).unwrap_or_default().is_empty()
        };
        if empty(names, "singular") {
            names.insert("singular".to_owned(), kind.to_lowercase().into());
        }
        if empty(names, "listKind") && !kind.is_empty() {
            names.insert("listKind".to_owned(), format!("{kind}List").into());
        }
    }
    missing(spec, "conversion", json!({ "strategy": "None" }));
}
