//! Field validation `Strict`: unknown fields are refused; otherwise they are dropped.
//!
//! A field counts as unknown if it is gone after reading. One with an empty value may be gone because it is empty, and
//! is accepted.

use serde_json::Value;

use super::Target;
use crate::in_process::failure::Failure;

/// Refuses a body with unknown fields, if the request demands that.
pub(super) fn check(target: &Target<'_>, body: &Value) -> Result<(), Failure> {
    if !target.options.strict {
        return Ok(());
    }
    let kind = target.kind;
    let read = kind.schema()?.read(body.clone()).map_err(|refusal| target.refused(refusal))?;
    let mut unknown = Vec::new();
    gone(body, &read, "", &mut unknown);
    // What is written as text is read as bytes.
    unknown.retain(|field| !field.starts_with("stringData") && field != "metadata.managedFields");
    if unknown.is_empty() {
        return Ok(());
    }
    let unknown: Vec<String> = unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
    let error = format!("strict decoding error: {}", unknown.join(", "));
    let message =
        format!("{} in version {:?} cannot be handled as a {}: {error}", kind.kind, kind.version, kind.kind);
    Err(Failure::bad_request(message))
}

/// The paths of what is in `body` and not in `read`.
fn gone(body: &Value, read: &Value, path: &str, unknown: &mut Vec<String>) {
    match (body, read) {
        (Value::Object(body), Value::Object(read)) => {
            for (name, value) in body {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match read.get(name) {
                    Some(read) => gone(value, read, &path, unknown),
                    None if is_empty(value) => {}
                    None => unknown.push(path),
                }
            }
        }
        (Value::Array(body), Value::Array(read)) => {
            for (at, (body, read)) in body.iter().zip(read).enumerate() {
                gone(body, read, &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
    }
}
