//! Embedded objects have a type, and the metadata of any object.

use serde_json::Value;

use super::{
    super::{coerce::embedded_metadata, flag},
    outcome::{Cause, cause, child, invalid},
};
use crate::in_process::{validate, values::metadata};

/// Checks `apiVersion`, `kind` and `metadata` of all embedded objects.
pub(in super::super) fn embedded(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(object) => {
            if flag(schema, "x-kubernetes-embedded-resource") {
                for name in ["apiVersion", "kind"] {
                    of_type(name, object.get(name), &child(path, name), causes);
                }
                if let Some(given) = object.get("metadata") {
                    let path = child(path, "metadata");
                    match embedded_metadata(given) {
                        Ok(read) => causes.extend(metadata::of_embedded(&read, &path)),
                        Err(why) => causes.push(invalid(&path, given, &why)),
                    }
                }
            }
            for (name, value) in object {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                let others = || schema.get("additionalProperties").filter(|others| others.is_object());
                if let Some(property) = property {
                    embedded(property, value, &child(path, name), causes);
                } else if let Some(others) = others() {
                    embedded(others, value, &format!("{path}[{name}]"), causes);
                }
            }
        }
        Value::Array(items) => {
            if let Some(of) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    embedded(of, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

fn of_type(name: &str, value: Option<&Value>, path: &str, causes: &mut Vec<Cause>) {
    let Some(value) = value else {
        causes.push(cause("Required", path, "Required value".to_owned()));
        return;
    };
    let Some(text) = value.as_str() else {
        causes.push(invalid(path, value, "must be a string"));
        return;
    };
    if text.is_empty() {
        causes.push(invalid(path, value, "must not be empty"));
    } else if name == "apiVersion" && text.matches('/').count() > 1 {
        causes.push(invalid(path, value, &format!("unexpected GroupVersion string: {text}")));
    } else if name == "kind"
        && let Some(why) = validate::wrong_kind_name(text)
    {
        causes.push(invalid(path, value, &why));
    }
}
