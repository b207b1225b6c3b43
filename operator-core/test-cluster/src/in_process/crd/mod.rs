//! What is wrong with a definition of a custom kind, in the real server's words. Pure.
//!
//! ```text
//!  definition ─▶ spec: names, versions, columns, subresources
//!                  └─ schema ─▶ structural? ─▶ defaults ─▶ types and lists ─▶ rules: types
//! ```
//!
//! # Assumptions
//! - A value that a message shows has the form of the API; the real server shows whole versions in a form of its own.

mod approval;
mod defaults;
mod rules;
mod schema;
mod spec;
mod structural;

pub(super) use approval::approval;
use serde_json::Value;

use super::{failure::Cause, fields::is_known_format};

/// All causes for which a definition is refused; `old` is what it was before an update.
pub(super) fn check(definition: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut found = Found::default();
    spec::check(definition, old, &mut found);
    found.causes
}

/// The parts of definitions that the server can't check, by name; each is refused, unless the server is lenient.
pub(super) fn unchecked(definition: &Value) -> Vec<String> {
    let mut parts = Vec::new();
    if definition.pointer("/spec/conversion/strategy").and_then(Value::as_str) == Some("Webhook") {
        parts.push("conversion webhooks of custom resources".to_owned());
    }
    parts
}

/// What a definition is warned of: formats that nobody knows, unless they were there before.
pub(super) fn warnings(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let all = |definition: &Value| {
        let mut formats = Vec::new();
        for version in items(&definition["spec"], "versions") {
            unknown_formats(&version["schema"]["openAPIV3Schema"], &mut formats);
        }
        formats
    };
    let before = old.map(all).unwrap_or_default();
    let mut new = all(definition);
    new.retain(|format| !before.contains(format));
    new.into_iter().map(|format| format!("unrecognized format {format:?}")).collect()
}

/// The formats of a schema that the server ignores, each once.
fn unknown_formats(schema: &Value, formats: &mut Vec<String>) {
    if !schema.is_object() {
        return;
    }
    let format = text(schema, "format").to_owned();
    if !is_known_format(schema) && !formats.contains(&format) {
        formats.push(format);
    }
    for word in ["items", "additionalProperties", "not"] {
        unknown_formats(&schema[word], formats);
    }
    fields(schema, "properties").for_each(|(_, property)| unknown_formats(property, formats));
    for word in ["allOf", "anyOf", "oneOf"] {
        items(schema, word).for_each(|alternative| unknown_formats(alternative, formats));
    }
}

/// What was found.
#[derive(Debug, Default)]
struct Found {
    causes: Vec<Cause>,
}

impl Found {
    fn add(&mut self, reason: &str, field: &str, message: String) {
        self.causes.push((format!("FieldValue{reason}"), field.to_owned(), message));
    }

    fn required(&mut self, field: &str, why: &str) {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        self.add("Required", field, format!("Required value{why}"));
    }

    fn forbidden(&mut self, field: &str, why: &str) {
        self.add("Forbidden", field, format!("Forbidden: {why}"));
    }

    fn invalid(&mut self, field: &str, value: &Value, why: &str) {
        self.add("Invalid", field, format!("Invalid value: {value}: {why}"));
    }

    fn unsupported(&mut self, field: &str, value: &Value, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|one| format!("{one:?}")).collect();
        let message = format!("Unsupported value: {value}: supported values: {}", supported.join(", "));
        self.add("NotSupported", field, message);
    }

    fn is_empty(&self) -> bool {
        self.causes.is_empty()
    }
}

/// A text in an object; empty if there is none.
fn text<'o>(object: &'o Value, field: &str) -> &'o str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a field is there.
fn has(object: &Value, field: &str) -> bool {
    object.get(field).is_some_and(|value| !value.is_null())
}

fn flag(object: &Value, field: &str) -> bool {
    object.get(field).and_then(Value::as_bool).unwrap_or(false)
}

/// The items of a list; none if there is no list.
fn items<'o>(object: &'o Value, field: &str) -> impl Iterator<Item = &'o Value> {
    object.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// The entries of an object; none if there is no object.
fn fields<'o>(object: &'o Value, field: &str) -> impl Iterator<Item = (&'o String, &'o Value)> {
    object.get(field).and_then(Value::as_object).into_iter().flatten()
}
