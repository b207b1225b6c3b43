//! Compares two values by what is desired, with or without tolerance for additional content.

use serde_json::Value;

use super::ignored::Ignored;
use crate::operations::matcher::{MAX_PATHS, Match, Path, present, same_number};

/// How additional content of the actual value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Additions {
    /// It is someone else's.
    Tolerated,
    /// It is a difference.
    Differ,
}

/// Fields that are maps in the kinds that come with Kubernetes, and that the server drops when they are empty. Other
/// empty objects have a meaning, `emptyDir: {}` for example.
const MAPS: [&str; 12] = [
    "annotations",
    "binaryData",
    "capacity",
    "data",
    "hard",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "overhead",
    "requests",
    "stringData",
];

/// A walk through two values, and the differences that it has found.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) additions: Additions,
    paths: Vec<String>,
    /// The maximum number of differences; no more are searched for.
    limit: usize,
}

impl Walk {
    pub(super) const fn new(additions: Additions) -> Self {
        Self { additions, paths: Vec::new(), limit: MAX_PATHS }
    }

    pub(super) fn into_match(self) -> Match {
        if self.paths.is_empty() { Match::Equal } else { Match::Differs(self.paths) }
    }

    fn differs(&mut self, path: &Path<'_>) {
        if !self.is_full() {
            self.paths.push(path.to_string());
        }
    }

    const fn is_full(&self) -> bool {
        self.paths.len() >= self.limit
    }

    /// Compares a field that may be missing on either side.
    pub(super) fn field(
        &mut self,
        path: &Path<'_>,
        name: &str,
        desired: Option<&Value>,
        actual: Option<&Value>,
        ignored: &Ignored<'_>,
    ) {
        match (present(desired), present(actual)) {
            (None, None) => {}
            (Some(desired), Some(actual)) => self.value(path, desired, actual, ignored),
            (Some(desired), None) if is_nothing(name, desired) => {}
            (None, Some(_)) if self.additions == Additions::Tolerated => {}
            (None, Some(actual)) if is_nothing(name, actual) => {}
            _ => self.differs(path),
        }
    }

    fn value(&mut self, path: &Path<'_>, desired: &Value, actual: &Value, ignored: &Ignored<'_>) {
        match (desired, actual) {
            (Value::Object(_), Value::Object(_)) => self.object(path, desired, actual, ignored, &|_| false),
            (Value::Array(desired), Value::Array(actual)) => self.items(path, desired, actual, ignored),
            (Value::Number(desired), Value::Number(actual)) if same_number(desired, actual) => {}
            _ if desired == actual => {}
            _ => self.differs(path),
        }
    }

    /// Compares two objects without the fields that are `not_compared`.
    pub(super) fn object(
        &mut self,
        path: &Path<'_>,
        desired: &Value,
        actual: &Value,
        ignored: &Ignored<'_>,
        not_compared: &dyn Fn(&str) -> bool,
    ) {
        let (Some(desired), Some(actual)) = (desired.as_object(), actual.as_object()) else {
            return self.differs(path);
        };
        let added = actual.iter().filter(|(name, _)| !desired.contains_key(*name)).map(|(name, _)| name);
        for name in desired.keys().chain(added).filter(|name| !not_compared(name)) {
            if let Some(ignored) = ignored.below(name) {
                self.field(&Path::Field(path, name), name, desired.get(name), actual.get(name), &ignored);
            }
            if self.is_full() {
                return;
            }
        }
    }

    fn items(&mut self, path: &Path<'_>, desired: &[Value], actual: &[Value], ignored: &Ignored<'_>) {
        if self.additions == Additions::Tolerated && is_within(desired, actual, ignored) {
            return;
        }
        // Item against item, so that the paths say as much as possible.
        for position in 0..desired.len().max(actual.len()) {
            let Some(ignored) = ignored.item(position) else { continue };
            let path = Path::Item(path, position);
            match (desired.get(position), actual.get(position)) {
                (Some(desired), Some(actual)) => self.value(&path, desired, actual, &ignored),
                (None, Some(_)) if self.additions == Additions::Tolerated => {}
                _ => self.differs(&path),
            }
            if self.is_full() {
                return;
            }
        }
    }
}

/// Whether the desired items are in the actual list in their order. Taking the first match leaves the most for those
/// that follow, so no choice has to be undone.
fn is_within(desired: &[Value], actual: &[Value], ignored: &Ignored<'_>) -> bool {
    let mut rest = actual.iter();
    desired.iter().enumerate().all(|(position, desired)| {
        let Some(ignored) = ignored.item(position) else { return true };
        rest.any(|actual| {
            let mut walk = Walk { additions: Additions::Tolerated, paths: Vec::new(), limit: 1 };
            walk.value(&Path::Root, desired, actual, &ignored);
            walk.paths.is_empty()
        })
    })
}

/// Whether a field is stored as nothing.
fn is_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty() && MAPS.contains(&name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
