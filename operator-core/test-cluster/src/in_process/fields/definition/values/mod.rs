//! Validation of an object against its schema, in the words and with the quirks of the real server's validator.
//!
//! ```text
//!  value ─▶ type ─▶ alternatives ─▶ text ─▶ format ─▶ number ─▶ list ─▶ enumeration ─▶ object
//!             │                                                  └─ items ─┘         └─ fields
//!             └─ what a value is of another type than the schema's is checked as the type that it has
//! ```
//!
//! # Guarantees
//! - Patterns are compiled when the definition is read.
//! - A part that was invalid before and is not changed by an update is no error: it is ratcheted.

mod correlate;
mod embedded;
mod formats;
mod junctions;
mod lists;
mod numbers;
mod outcome;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use self::outcome::{Outcome, Problem, told};
pub(super) use self::{
    correlate::Old,
    embedded::embedded,
    lists::duplicates,
    outcome::{Cause, cause, child, invalid},
};
pub(in crate::in_process) use self::{
    formats::{is_known as is_known_format, is_valid as is_valid_format},
    numbers::show as show_float,
};
use super::flag;
use crate::in_process::go::pattern;

/// The patterns of a schema.
#[derive(Debug, Default)]
pub(super) struct Patterns(BTreeMap<String, Option<Regex>>);

impl Patterns {
    /// Compiles all patterns of a schema.
    pub(super) fn of(schema: &Value) -> Self {
        let mut patterns = Self::default();
        patterns.add(schema);
        patterns
    }

    fn add(&mut self, schema: &Value) {
        let Some(words) = schema.as_object() else { return };
        if let Some(text) = words.get("pattern").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.0.entry(text.to_owned()).or_insert_with(|| pattern::compile(text).ok());
        }
        for property in words.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.add(property.1);
        }
        for word in ["items", "additionalProperties", "not"] {
            words.get(word).into_iter().for_each(|schema| self.add(schema));
        }
        for word in ["anyOf", "oneOf", "allOf"] {
            let alternatives = words.get(word).and_then(Value::as_array);
            alternatives.into_iter().flatten().for_each(|schema| self.add(schema));
        }
    }

    /// Whether a text matches; `None` if the pattern can't be compiled.
    fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        self.0.get(pattern)?.as_ref().map(|regex| regex.is_match(text))
    }
}

/// What is wrong with a value; `old` is what it was before an update. The names in messages begin below `at`.
pub(super) fn check(
    patterns: &Patterns,
    schema: &Value,
    value: &Value,
    at: &str,
    old: Option<Old<'_>>,
) -> Vec<Cause> {
    let outcome = Check { patterns }.value(schema, value, "", old);
    outcome.problems.into_iter().map(|problem| problem.cause(at)).collect()
}

struct Check<'s> {
    patterns: &'s Patterns,
}

impl Check<'_> {
    fn value(&self, schema: &Value, value: &Value, path: &str, old: Option<Old<'_>>) -> Outcome {
        let mut outcome = self.new_value(schema, value, path, old);
        if !outcome.problems.is_empty() && old.is_some_and(|old| old.is_same(value)) {
            outcome.problems.clear();
        }
        outcome
    }

    fn new_value(&self, schema: &Value, value: &Value, path: &str, old: Option<Old<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        let types = Types::of(schema);
        if types.is_any() {
            // Nothing to check.
        } else if let Some(problem) = types.problem(schema, value, path) {
            outcome.merge(Outcome::of(problem));
        } else {
            outcome.matches += 1;
        }
        if value.is_null() {
            enumeration(schema, value, path, &mut outcome);
            return outcome;
        }
        outcome.matches += u64::from(!types.is_any());
        outcome.merge(self.junctions(schema, value, path));
        outcome.matches += 1;
        match value {
            Value::String(text) => {
                outcome.merge(self.text(schema, text, path));
                outcome.matches += 1;
                if let Some(format) = formats::of(schema) {
                    if !formats::is_valid(format, text) {
                        outcome.merge(Outcome::of(Problem::of_type(path, format, text)));
                    }
                    outcome.matches += 1;
                }
            }
            Value::Number(number) => {
                outcome.merge(numbers::check(schema, number, path));
                outcome.matches += 1;
            }
            Value::Array(items) => {
                outcome.merge(self.list(schema, items, path, old));
                outcome.matches += 1;
            }
            _ => {}
        }
        if schema.get("enum").is_some() {
            enumeration(schema, value, path, &mut outcome);
        }
        // The check for an enumeration applies to everything.
        outcome.matches += 1;
        if let Value::Object(object) = value {
            outcome.merge(self.object(schema, object, path, old));
            outcome.matches += 1;
        }
        outcome.matches += 1;
        outcome
    }

    /// The first problem of a text ends its check.
    fn text(&self, schema: &Value, text: &str, path: &str) -> Outcome {
        let count = |word: &str| schema.get(word).and_then(Value::as_i64);
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(most) = count("maxLength").filter(|most| length > *most) {
            let said = format!("should be at most {most} chars long");
            let message = format!("Too long: may not be more than {most} bytes");
            return Outcome::of(Problem::as_said(path, &said, "FieldValueTooLong", message));
        }
        let wrong = |said: &str| Outcome::of(Problem::of_value(path, &Value::from(text), said));
        if let Some(least) = count("minLength").filter(|least| length < *least) {
            return wrong(&format!("should be at least {least} chars long"));
        }
        match schema.get("pattern").and_then(Value::as_str).filter(|pattern| !pattern.is_empty()) {
            Some(pattern) if self.patterns.matches(pattern, text) == Some(false) => {
                wrong(&format!("should match '{pattern}'"))
            }
            _ => Outcome::default(),
        }
    }

    fn list(&self, schema: &Value, items: &[Value], path: &str, old: Option<Old<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(of) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                let old = old.and_then(|old| old.item(schema, item));
                outcome.merge(self.value(of, item, &format!("{path}[{index}]"), old));
            }
        }
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let count = |word: &str| schema.get(word).and_then(Value::as_i64);
        if let Some(least) = count("minItems").filter(|least| size < *least) {
            let said = format!("should have at least {least} items");
            outcome.add(Problem::of_value(path, &size.into(), &said));
        }
        if let Some(most) = count("maxItems").filter(|most| size > *most) {
            outcome.add(too_many(path, size, most, "items"));
        }
        outcome.matches += 1;
        outcome
    }

    fn object(
        &self,
        schema: &Value,
        object: &Map<String, Value>,
        path: &str,
        old: Option<Old<'_>>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let size = i64::try_from(object.len()).unwrap_or(i64::MAX);
        let count = |word: &str| schema.get(word).and_then(Value::as_i64);
        if let Some(least) = count("minProperties").filter(|least| size < *least) {
            let said = format!("should have at least {least} properties");
            outcome.add(Problem::of_value(path, &size.into(), &said));
        }
        if let Some(most) = count("maxProperties").filter(|most| size > *most) {
            outcome.add(too_many(path, size, most, "properties"));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let is_type = |name: &str| path.is_empty() && matches!(name, "apiVersion" | "kind");
        let of_field = |name: &str| old.filter(|_| !is_type(name)).and_then(|old| old.field(name));
        for (name, value) in object {
            if let Some(others) = others
                && !properties.is_some_and(|properties| properties.contains_key(name))
            {
                outcome.merge(self.value(others, value, &format!("{path}.{name}"), of_field(name)));
            }
        }
        for (name, property) in properties.into_iter().flatten() {
            if let Some(value) = object.get(name) {
                outcome.merge(self.value(property, value, &child(path, name), of_field(name)));
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let path = format!("{path}.{name}");
                outcome.add(Problem::as_said(
                    &path,
                    "is required",
                    "FieldValueRequired",
                    "Required value".into(),
                ));
            }
        }
        outcome
    }
}

fn too_many(path: &str, size: i64, most: i64, what: &str) -> Problem {
    let message =
        format!("Too many: {size}: must have at most {most} {}", if most == 1 { "item" } else { "items" });
    Problem::as_said(path, &format!("should have at most {most} {what}"), "FieldValueTooMany", message)
}

fn enumeration(schema: &Value, value: &Value, path: &str, outcome: &mut Outcome) {
    let Some(allowed) = schema.get("enum").and_then(Value::as_array).filter(|allowed| !allowed.is_empty())
    else {
        return;
    };
    let same = |one: &Value| match (one, value) {
        (Value::Number(one), Value::Number(two)) => one.as_f64() == two.as_f64(),
        (one, two) => one == two,
    };
    if allowed.iter().any(same) {
        return;
    }
    let names: Vec<_> = allowed
        .iter()
        .map(|value| match value {
            Value::String(text) => format!("{text:?}"),
            value => format!("{:?}", value.to_string()),
        })
        .collect();
    let message = format!("Unsupported value: {}: supported values: {}", told(value), names.join(", "));
    let said = format!("should be one of {allowed:?}");
    outcome.add(Problem::as_said(path, &said, "FieldValueNotSupported", message));
}

/// The types that a schema allows.
enum Types<'s> {
    Any,
    IntOrString,
    One(&'s str),
}

impl<'s> Types<'s> {
    fn of(schema: &'s Value) -> Self {
        if flag(schema, "x-kubernetes-int-or-string") {
            return Self::IntOrString;
        }
        match schema.get("type").and_then(Value::as_str) {
            Some(one) if !one.is_empty() => Self::One(one),
            _ => Self::Any,
        }
    }

    fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    fn allows(&self, kind: &str) -> bool {
        match self {
            Self::Any => false,
            Self::IntOrString => matches!(kind, "integer" | "string"),
            Self::One(one) => *one == kind,
        }
    }

    fn problem(&self, schema: &Value, value: &Value, path: &str) -> Option<Problem> {
        let names = match self {
            Self::One(one) => one,
            _ => "integer,string",
        };
        let (kind, of_kind) = match value {
            Value::Null => {
                return (!flag(schema, "nullable")).then(|| Problem::of_type(path, names, "null"));
            }
            Value::Bool(_) => ("boolean", ""),
            // Go reads what is beyond 64 bits, with a sign, as a float.
            Value::Number(number) if !number.is_i64() => ("number", "float64"),
            Value::Number(_) => ("integer", "int64"),
            Value::String(_) => ("string", ""),
            Value::Array(_) => ("array", ""),
            Value::Object(_) => ("object", ""),
        };
        let whole = value.as_f64().is_some_and(numbers::is_whole);
        let fits = self.allows(kind)
            || kind == "number" && whole && self.allows("integer")
            || kind == "integer" && self.allows("number");
        if fits {
            return None;
        }
        if let Some(format) = formats::named(schema) {
            let textual = matches!(value, Value::String(_) | Value::Array(_));
            if !textual {
                return (format != of_kind).then(|| Problem::of_type(path, format, of_kind));
            }
            if !self.allows("number") && !self.allows("integer") {
                return None;
            }
        }
        Some(Problem::of_type(path, names, kind))
    }
}
