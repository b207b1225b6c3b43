//! What Go's standard library reads differently from Rust's: JSON, regular expressions, durations, times, addresses, URLs. Pure.

pub(super) mod address;
pub(super) mod duration;
pub(super) mod json;
pub(super) mod pattern;
pub(super) mod time;
pub(super) mod uri;

use serde_json::Value;

/// Bytes as a text, in which each byte that isn't UTF-8 is a replacement character.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// A number with a point in JSON, as Go writes it.
pub(super) fn float(number: f64) -> String {
    if number == 0.0 || (1e-6..1e21).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// What Go calls the type of a value that was read from JSON: `%T`.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
