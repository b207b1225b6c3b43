//! Digests of what objects are generated from. Pure.
//!
//! # Guarantees
//! - The order in which a mapping keeps its keys makes no difference.
//! - Different inputs have different digests: each is a part of one JSON text, which shows where it ends.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::LookupKey;

/// The digest of what objects are generated from: parameters, the [identity](super::Generator::identity) of the generator, and
/// for each object that is looked up its version, or whatever changes with it. Hexadecimal SHA-256.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use operator_component::generator::digest_of;
/// use serde_json::json;
///
/// let none = BTreeMap::new();
/// let digest = digest_of(&json!({ "a": 1, "b": 2 }), "files", &none);
/// assert_eq!(digest, digest_of(&json!({ "b": 2, "a": 1 }), "files", &none));
/// assert_ne!(digest, digest_of(&json!({ "b": 2, "a": 1 }), "other files", &none));
/// assert_eq!(digest.len(), 64);
/// ```
#[must_use]
pub fn digest_of(parameters: &Value, identity: &str, looked_up: &BTreeMap<LookupKey, String>) -> String {
    let looked_up: Vec<_> = looked_up
        .iter()
        .map(|(key, version)| json!([key.api_version, key.kind, key.namespace, key.name, version]))
        .collect();
    digest_of_value(&json!([parameters, identity, looked_up]))
}

pub(super) fn digest_of_files(files: &[(&str, &str)]) -> String {
    digest_of_value(&json!(files))
}

pub(super) fn digest_of_value(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    hexadecimal(text.as_bytes())
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// As JSON with sorted keys. A feature of serde_json, which any crate may enable, keeps them in the order of insertion.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            let fields: BTreeMap<_, _> = fields.iter().collect();
            for (key, value) in fields {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}
