//! What a check has found.

use serde_json::Value;

use super::numbers::show;

/// What is wrong with a value: (reason, field, message).
pub(in super::super) type Cause = (String, String, String);

/// Problems, each once, and how many checks have passed: of several alternatives the one with the most is reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) problems: Vec<Problem>,
    pub(super) matches: u64,
}

impl Outcome {
    pub(super) fn of(problem: Problem) -> Self {
        Self { problems: vec![problem], matches: 0 }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn add(&mut self, problem: Problem) {
        if !self.problems.iter().any(|known| known.said == problem.said) {
            self.problems.push(problem);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        other.problems.into_iter().for_each(|problem| self.add(problem));
        self.matches += other.matches;
    }
}

/// One problem.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// What the validator says, by which problems are told apart.
    said: String,
    /// Where; `None` if only the text says it.
    path: Option<String>,
    reason: &'static str,
    message: String,
}

impl Problem {
    /// A value that is not as it should be.
    pub(super) fn of_value(path: &str, value: &Value, should: &str) -> Self {
        let said = format!("{path} in body {should}");
        let message = format!("Invalid value: {}: {said}", told(value));
        Self { said, path: Some(path.to_owned()), reason: "FieldValueInvalid", message }
    }

    /// A value of another type or format.
    pub(super) fn of_type(path: &str, wanted: &str, actual: &str) -> Self {
        let said = format!("{path} in body must be of type {wanted}: {actual:?}");
        let message = format!("Invalid value: {actual:?}: {said}");
        Self { said, path: Some(path.to_owned()), reason: "FieldValueTypeInvalid", message }
    }

    /// A problem that is reported in other words.
    pub(super) fn as_said(path: &str, should: &str, reason: &'static str, message: String) -> Self {
        Self { said: format!("{path} in body {should}"), path: Some(path.to_owned()), reason, message }
    }

    /// A problem without a place of its own.
    pub(super) fn general(said: String) -> Self {
        let message = format!("Invalid value: \"\": {said}");
        Self { said, path: None, reason: "FieldValueInvalid", message }
    }

    /// As the server reports it, for a value that is itself below `at`.
    pub(super) fn cause(self, at: &str) -> Cause {
        let path = self.path.as_deref().unwrap_or_default();
        let path = path.strip_prefix('.').unwrap_or(path);
        let field = if path.is_empty() { shown(at) } else { child(at, path) };
        (self.reason.to_owned(), field, self.message)
    }
}

/// The root has a name, too.
fn shown(path: &str) -> String {
    if path.is_empty() { "<nil>".to_owned() } else { path.to_owned() }
}

/// A field below a path.
pub(in super::super) fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A cause.
pub(in super::super) fn cause(reason: &str, path: &str, message: String) -> Cause {
    (format!("FieldValue{reason}"), shown(path), message)
}

/// A value that is wrong.
pub(in super::super) fn invalid(path: &str, value: &Value, why: &str) -> Cause {
    cause("Invalid", path, format!("Invalid value: {}: {why}", told(value)))
}

/// A value in a message: a float in Go's notation.
pub(super) fn told(value: &Value) -> String {
    match value.as_f64().filter(|_| value.is_number() && !value.is_i64()) {
        Some(float) => show(float),
        None => value.to_string(),
    }
}
