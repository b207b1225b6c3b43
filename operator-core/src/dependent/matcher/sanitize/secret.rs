//! `stringData` of a Secret, which is for writing only.

use k8s_openapi::ByteString;
use serde_json::Value;

/// Removes those texts from `stringData` that are in the actual `data` already. The server never shows `stringData`, so
/// it would differ forever.
///
/// A text that is no longer desired is not detected, and can't be: applying doesn't remove it either, because only
/// writing it is owned. To remove keys, write `data`.
pub(super) fn encode(desired: &mut Value, actual: &Value) -> bool {
    let Some(texts) = desired.get_mut("stringData").and_then(Value::as_object_mut) else { return false };
    let before = texts.len();
    texts.retain(|key, text| {
        let stored = actual.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
        let is_stored = match (text.as_str(), stored) {
            (Some(text), Some(stored)) => is_encoded(text, stored),
            _ => false,
        };
        !is_stored
    });
    let changed = texts.len() != before;
    if texts.is_empty()
        && let Some(fields) = desired.as_object_mut()
    {
        fields.remove("stringData");
    }
    changed
}

/// Whether `stored` is the base64 of `text`.
fn is_encoded(text: &str, stored: &str) -> bool {
    let encoded = serde_json::to_value(ByteString(text.as_bytes().to_vec()));
    encoded.is_ok_and(|encoded| encoded == stored)
}
