//! What templates can call, beside what minijinja brings. Pure.

use base64::{Engine, engine::general_purpose::STANDARD};
use minijinja::{
    Environment, Error, ErrorKind, Output, State,
    functions::namespace,
    value::{Kwargs, Value, ValueKind},
};

use super::super::{LookupKey, digest};

/// An error of these functions: its text has no value. It is the source of an error of minijinja.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{0}")]
    Wrong(String),
    #[error("not looked up yet")]
    Unknown(LookupKey),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        // The text is that of the source: minijinja's own isn't shown.
        Self::new(ErrorKind::InvalidOperation, "").with_source(fault)
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Fault::Wrong(what.into()).into()
}

pub(super) fn add_to(environment: &mut Environment<'_>) {
    environment.add_filter("to_yaml", to_yaml);
    environment.add_filter("required", required);
    environment.add_filter("b64", b64);
    environment.add_filter("b64decode", b64decode);
    environment.add_filter("sha256", sha256);
    // In Jinja it is called as our variable for the namespace.
    environment.remove_global("namespace");
    environment.add_function("scope", namespace);
    environment.set_formatter(write);
}

/// What `{{ … }}` writes. What has no form of its own in YAML is an error: its text would be that of another language.
fn write(output: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Bool => {
            output.write_str(if value.is_true() { "true" } else { "false" }).map_err(Error::from)
        }
        ValueKind::None => Err(wrong("none has no text; use `default`, `required` or `to_yaml`")),
        ValueKind::Bytes => Err(wrong("these bytes aren't text in UTF-8; use `b64`")),
        kind @ (ValueKind::Seq | ValueKind::Map | ValueKind::Iterable | ValueKind::Plain) => {
            Err(wrong(format!("a {kind} has no text; use `to_yaml`")))
        }
        _ => minijinja::escape_formatter(output, state, value),
    }
}

/// `indent` is the number of spaces before all lines but the first.
#[expect(clippy::needless_pass_by_value, reason = "the types of arguments tell minijinja what to pass")]
fn to_yaml(value: &Value, indent: Option<usize>, named: Kwargs) -> Result<String, Error> {
    let indent = indent.or(named.get("indent")?).unwrap_or_default();
    named.assert_all_used()?;
    let json = json_of(value, "to_yaml")?;
    if let Some(text) = json.as_str() {
        return Ok(quoted(text));
    }
    let text = serde_saphyr::to_string(&json).map_err(|_| wrong("`to_yaml` can't write this value"))?;
    let lines = format!("\n{}", " ".repeat(indent.min(MOST_INDENT)));
    Ok(text.trim_end_matches('\n').replace('\n', &lines))
}

/// Deeper than any object is nested.
const MOST_INDENT: usize = 200;

/// In one line, so that a text has its place behind a key, whatever the indent. YAML has the escapes of JSON, but it doesn't
/// take each character that JSON takes as it is.
fn quoted(text: &str) -> String {
    let is_printable = |c: char| {
        !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let mut quoted = String::new();
    for c in serde_json::Value::from(text).to_string().chars() {
        if is_printable(c) {
            quoted.push(c);
        } else {
            quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    quoted
}

fn json_of(value: &Value, filter: &str) -> Result<serde_json::Value, Error> {
    if value.is_undefined() {
        return Err(wrong(format!("`{filter}` of an undefined value")));
    }
    serde_json::to_value(value).map_err(|_| wrong(format!("`{filter}` can't take this value")))
}

/// The value, unless it is undefined, none or empty. `0` and `false` are values.
fn required(value: Value, message: &str) -> Result<Value, Error> {
    let is_missing = value.is_undefined() || value.is_none() || value.len() == Some(0);
    if is_missing { Err(wrong(message)) } else { Ok(value) }
}

fn b64(value: &Value) -> Result<String, Error> {
    Ok(STANDARD.encode(bytes_of(value, "b64")?))
}

/// Text if it is in UTF-8; otherwise bytes, which `b64` and `sha256` take.
fn b64decode(value: &Value) -> Result<Value, Error> {
    let decoded = STANDARD.decode(bytes_of(value, "b64decode")?);
    let decoded = decoded.map_err(|_| wrong("the value isn't base64"))?;
    Ok(String::from_utf8(decoded).map_or_else(|error| Value::from_bytes(error.into_bytes()), Value::from))
}

fn sha256(value: &Value) -> Result<String, Error> {
    Ok(digest::hexadecimal(&bytes_of(value, "sha256")?))
}

/// The bytes of what has one text.
fn bytes_of(value: &Value, filter: &str) -> Result<Vec<u8>, Error> {
    match value.kind() {
        ValueKind::String | ValueKind::Bytes => Ok(value.as_bytes().unwrap_or_default().to_vec()),
        ValueKind::Bool | ValueKind::Number => Ok(json_of(value, filter)?.to_string().into_bytes()),
        kind => Err(wrong(format!("`{filter}` takes text, and this is of kind {kind}"))),
    }
}
