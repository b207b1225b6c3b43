//! Objects written as JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The object that `value` is. It is decoded from text, as caches decode it: a type's decoder is half of its code, and one
/// that reads a [`Value`] would be another.
///
/// # Errors
/// When it is no such object.
pub fn from_json<K: DeserializeOwned>(value: &Value) -> serde_json::Result<K> {
    serde_json::from_str(&value.to_string())
}
