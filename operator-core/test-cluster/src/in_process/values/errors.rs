//! What is wrong with the values of an object, in the words of the real server. Pure.

use std::fmt::Write as _;

use serde_json::Value;

use super::path::Path;
use crate::in_process::{failure::Cause, go::float};

/// The errors that have been found in an object, in the order in which they were found.
#[derive(Debug, Default)]
pub(in crate::in_process) struct Errors(Vec<Cause>);

/// A value that an error can show.
pub(in crate::in_process) trait Shown {
    /// As Go shows it.
    fn shown(self) -> String;
}

impl Errors {
    /// A value that must be there is missing or empty.
    pub(in crate::in_process) fn required(&mut self, path: &Path<'_>, detail: &str) {
        self.add("FieldValueRequired", "Required value", path, None, detail);
    }

    /// A value is malformed or out of bounds.
    pub(in crate::in_process) fn invalid(&mut self, path: &Path<'_>, value: impl Shown, detail: &str) {
        self.add("FieldValueInvalid", "Invalid value", path, Some(&value.shown()), detail);
    }

    /// The same for a value that isn't shown.
    pub(in crate::in_process) fn invalid_unshown(&mut self, path: &Path<'_>, detail: &str) {
        self.add("FieldValueInvalid", "Invalid value", path, None, detail);
    }

    /// A value refers to something that doesn't exist, with what exists.
    pub(in crate::in_process) fn not_found_among(
        &mut self,
        path: &Path<'_>,
        value: impl Shown,
        detail: &str,
    ) {
        self.add("FieldValueNotFound", "Not found", path, Some(&value.shown()), detail);
    }

    /// The same for each of several reasons.
    pub(in crate::in_process) fn all_invalid(&mut self, path: &Path<'_>, value: &str, details: &[String]) {
        details.iter().for_each(|detail| self.invalid(path, value, detail));
    }

    /// A value that must be unique exists twice.
    pub(in crate::in_process) fn duplicate(&mut self, path: &Path<'_>, value: impl Shown) {
        self.add("FieldValueDuplicate", "Duplicate value", path, Some(&value.shown()), "");
    }

    /// A value refers to something that doesn't exist.
    pub(in crate::in_process) fn not_found(&mut self, path: &Path<'_>, value: impl Shown) {
        self.add("FieldValueNotFound", "Not found", path, Some(&value.shown()), "");
    }

    /// A value is none of the few that are known, which are given in the order of the real server's message.
    pub(in crate::in_process) fn not_supported(
        &mut self,
        path: &Path<'_>,
        value: impl Shown,
        known: &[&str],
    ) {
        let known: Vec<String> = known.iter().map(|known| quoted(known)).collect();
        let detail =
            if known.is_empty() { String::new() } else { format!("supported values: {}", known.join(", ")) };
        self.add("FieldValueNotSupported", "Unsupported value", path, Some(&value.shown()), &detail);
    }

    /// A value that would be right elsewhere or at another time.
    pub(in crate::in_process) fn forbidden(&mut self, path: &Path<'_>, detail: &str) {
        self.add("FieldValueForbidden", "Forbidden", path, None, detail);
    }

    /// A text has too many bytes.
    pub(in crate::in_process) fn too_long(&mut self, path: &Path<'_>, limit: usize) {
        let unit = if limit == 1 { "byte" } else { "bytes" };
        self.add(
            "FieldValueTooLong",
            "Too long",
            path,
            None,
            &format!("may not be more than {limit} {unit}"),
        );
    }

    /// A list has too many items.
    pub(in crate::in_process) fn too_many(&mut self, path: &Path<'_>, count: usize, limit: usize) {
        let unit = if limit == 1 { "item" } else { "items" };
        let detail = format!("must have at most {limit} {unit}");
        self.add("FieldValueTooMany", "Too many", path, Some(&count.to_string()), &detail);
    }

    /// Adds a cause as it is.
    pub(in crate::in_process) fn push(&mut self, cause: Cause) {
        self.0.push(cause);
    }

    /// Whether nothing is wrong so far.
    pub(in crate::in_process) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many errors there are so far.
    pub(in crate::in_process) fn len(&self) -> usize {
        self.0.len()
    }

    /// The causes of a refusal.
    pub(in crate::in_process) fn into_causes(self) -> Vec<Cause> {
        self.0
    }

    fn add(&mut self, reason: &str, words: &str, path: &Path<'_>, value: Option<&str>, detail: &str) {
        let mut message = words.to_owned();
        for part in value.into_iter().chain((!detail.is_empty()).then_some(detail)) {
            message.push_str(": ");
            message.push_str(part);
        }
        self.0.push((reason.to_owned(), path.to_string(), message));
    }
}

/// A text that is shown as it is.
#[derive(Clone, Debug)]
pub(in crate::in_process) struct Verbatim(pub(in crate::in_process) String);

impl Shown for Verbatim {
    fn shown(self) -> String {
        self.0
    }
}

impl Shown for &str {
    fn shown(self) -> String {
        quoted(self)
    }
}

impl Shown for &String {
    fn shown(self) -> String {
        quoted(self)
    }
}

impl Shown for i64 {
    fn shown(self) -> String {
        self.to_string()
    }
}

impl Shown for usize {
    fn shown(self) -> String {
        self.to_string()
    }
}

impl Shown for bool {
    fn shown(self) -> String {
        self.to_string()
    }
}

impl Shown for &Value {
    fn shown(self) -> String {
        match self {
            Value::String(text) => quoted(text),
            other => json(other, &[]),
        }
    }
}

/// A text in quotes, as Go writes it with `%q`.
pub(in crate::in_process) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Writing to a string doesn't fail.
            '\0'..='\u{1f}' | '\u{7f}' => drop(write!(quoted, "\\x{:02x}", u32::from(letter))),
            '\u{80}'..='\u{a0}' | '\u{ad}' => drop(write!(quoted, "\\u{:04x}", u32::from(letter))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// A value as Go's JSON: the given fields first, which is how a Go type may have them, and the others by their names.
pub(in crate::in_process) fn json(value: &Value, first: &[&str]) -> String {
    let mut text = String::new();
    write_json(&mut text, value, first);
    text
}

fn write_json(out: &mut String, value: &Value, first: &[&str]) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(out, item, first);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            let rank = |name: &str| first.iter().position(|known| *known == name).unwrap_or(first.len());
            names.sort_by(|one, two| rank(one).cmp(&rank(two)).then(one.cmp(two)));
            out.push('{');
            for (at, name) in names.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json_text(out, name);
                out.push(':');
                write_json(out, &fields[name], first);
            }
            out.push('}');
        }
        Value::String(text) => json_text(out, text),
        Value::Number(number) if number.is_f64() => out.push_str(&float(number.as_f64().unwrap_or_default())),
        other => out.push_str(&other.to_string()),
    }
}

/// Go's JSON may stand in a web page.
fn json_text(out: &mut String, text: &str) {
    let plain = Value::from(text).to_string();
    let escaped = plain.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    out.push_str(&escaped.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"));
}

#[cfg(test)]
mod tests {
    use serde_json::json as object;

    use super::*;

    #[test]
    fn errors_say_what_the_real_server_says() {
        let mut errors = Errors::default();
        let spec = Path::root("spec");
        errors.required(&spec.child("selector"), "");
        errors.invalid(
            &spec.child("ports").index(0).child("port"),
            0_i64,
            "must be between 1 and 65535, inclusive",
        );
        errors.not_supported(&spec.child("type"), "X", &["A", "B"]);
        errors.duplicate(&spec.key("a"), &object!({"b": "<", "a": [1]}));
        errors.too_long(&spec, 1);
        errors.too_many(&spec, 3, 2);
        let said: Vec<String> = errors
            .into_causes()
            .into_iter()
            .map(|(_, field, message)| format!("{field}: {message}"))
            .collect();
        assert_eq!(
            said,
            [
                "spec.selector: Required value",
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "spec.type: Unsupported value: \"X\": supported values: \"A\", \"B\"",
                "spec[a]: Duplicate value: {\"a\":[1],\"b\":\"\\u003c\"}",
                "spec: Too long: may not be more than 1 byte",
                "spec: Too many: 3: must have at most 2 items",
            ]
        );
    }

    #[test]
    fn a_text_is_quoted_as_go_does() {
        assert_eq!(quoted("a\"\\\n\u{1}ä'"), r#""a\"\\\n\x01ä'""#);
    }
}
