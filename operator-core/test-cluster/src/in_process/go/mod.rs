//! What Go's standard library reads differently from Rust's: JSON, regular expressions, durations, times, addresses, URLs. Pure.

pub(super) mod address;
pub(super) mod duration;
pub(super) mod json;
pub(super) mod pattern;
pub(super) mod time;
pub(super) mod uri;

use serde_json::Value;

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
