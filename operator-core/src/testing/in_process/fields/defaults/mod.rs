//! What Kubernetes fills into its own kinds.

mod definition;

use serde_json::{Map, Value, json};

/// Fills in what a request may leave out.
pub(super) fn fill(kind: &str, object: &mut Value) {
    match kind {
        "CustomResourceDefinition" => {
            if let Some(object) = object.as_object_mut() {
                definition::fill(object);
            }
        }
        "Secret" => secret(object),
        _ => {}
    }
}

/// Fills in the first status of a kind.
pub(super) fn create(kind: &str, object: &mut Value) {
    let phase = match kind {
        "Namespace" => "Active",
        "Pod" | "PersistentVolumeClaim" | "PersistentVolume" => "Pending",
        _ => return,
    };
    object["status"] = json!({ "phase": phase });
}

/// Carries over what an update may leave out.
pub(super) fn update(_kind: &str, _live: &Value, _object: &mut Value) {}

/// Sets a field that is not there.
fn missing(object: &mut Map<String, Value>, field: &str, value: Value) {
    let place = object.entry(field).or_insert(Value::Null);
    if place.is_null() {
        *place = value;
    }
}

/// `stringData` is only a way to write `data`.
fn secret(object: &mut Value) {
    let Some(secret) = object.as_object_mut() else { return };
    missing(secret, "type", json!("Opaque"));
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    missing(secret, "data", json!({}));
    if let Some(data) = secret.get_mut("data").and_then(Value::as_object_mut) {
        for (key, text) in texts {
            data.insert(key, json!(base64(text.as_str().unwrap_or_default().as_bytes())));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for index in 0..4 {
            let digit = (group >> (18 - 6 * index)) & 63;
            text.push(if index > chunk.len() { '=' } else { char::from(ALPHABET[digit as usize]) });
        }
    }
    text
}
