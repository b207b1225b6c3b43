//! Objects written as JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The object in `value`. It is decoded from text, as caches decode it: a type's decoder is half of its code, and a
/// decoder for a [`Value`] would be a second one.
///
/// # Errors
/// If it isn't such an object.
pub fn from_json<K: DeserializeOwned>(value: &Value) -> serde_json::Result<K> {
    serde_json::from_str(&value.to_string())
}
