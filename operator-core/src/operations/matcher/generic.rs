//! The matcher that a dependent is configured with, and the comparison by value, for those that are replaced. Pure.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{
    fields::{MAX_PATHS, Match},
    sanitize::sanitized,
    values::{Path, present, same_number},
};
use crate::resource::{KubeObject, Object};

/// A custom comparison: whether the actual object, the first one, is as desired.
pub(crate) type CustomMatch<K> = dyn Fn(&K, &K) -> bool + Send + Sync;

/// How a dependent is compared with what is desired. JOSDK: `Matcher`, and the `matcher` of a Kubernetes dependent.
#[derive(Default)]
pub enum Matcher<K: ?Sized> {
    /// An object that is applied is as desired if what was applied last is what is desired now, and if nobody has
    /// changed a field of it since. One that is replaced is compared by [`GenericMatcher`] with its defaults.
    ///
    /// Another spelling of the same state is another one, and is applied once: `1000m` instead of `1`, or ports in another
    /// order. So give lists an order that stays the same from run to run.
    ///
    /// What was applied last is noted in the object, in the annotation
    /// [`MarkNames::mark`](crate::resource::MarkNames::mark): a digest, which says nothing about the values of a Secret.
    /// Those are compared one by one.
    #[default]
    Auto,
    /// By content, whatever its owner.
    Generic(GenericMatcher),
    /// By a function.
    Custom(Arc<CustomMatch<K>>),
}

impl<K> Matcher<K> {
    /// A custom comparison: whether the actual object, the first one, is as desired.
    #[must_use]
    pub fn custom(is_as_desired: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        Self::Custom(Arc::new(is_as_desired))
    }
}

impl<K: KubeObject> Matcher<K> {
    /// The same matcher, which doesn't know the type.
    pub(crate) fn erased(self) -> Matcher<dyn Object> {
        match self {
            Self::Auto => Matcher::Auto,
            Self::Generic(matcher) => Matcher::Generic(matcher),
            Self::Custom(is_as_desired) => {
                Matcher::Custom(Arc::new(move |actual: &dyn Object, desired: &dyn Object| {
                    match (actual.typed_ref(), desired.typed_ref()) {
                        (Some(actual), Some(desired)) => is_as_desired(actual, desired),
                        _ => false,
                    }
                }))
            }
        }
    }
}

impl Matcher<dyn Object> {
    /// Whether the content of `actual` is as desired. `body` is what would be sent for `desired`, with its `apiVersion`
    /// and `kind`. A function that says no names no path.
    ///
    /// # Errors
    /// If `actual` can't be turned into JSON. The error may repeat a part of it, so for a Secret it has to be masked.
    pub(crate) fn matches(
        &self,
        actual: &dyn Object,
        desired: &dyn Object,
        body: &Value,
    ) -> Result<Match, serde_json::Error> {
        match self {
            Self::Auto => Ok(GenericMatcher::new().matches(body, &actual.to_value()?)),
            Self::Generic(matcher) => Ok(matcher.matches(body, &actual.to_value()?)),
            Self::Custom(is_as_desired) => {
                actual.check()?;
                Ok(if is_as_desired(actual, desired) { Match::Equal } else { Match::Differs(Vec::new()) })
            }
        }
    }
}

impl<K: ?Sized> Clone for Matcher<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Auto => Self::Auto,
            Self::Generic(matcher) => Self::Generic(matcher.clone()),
            Self::Custom(is_as_desired) => Self::Custom(Arc::clone(is_as_desired)),
        }
    }
}

impl<K: ?Sized> fmt::Debug for Matcher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("Auto"),
            Self::Generic(matcher) => f.debug_tuple("Generic").field(matcher).finish(),
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}

/// The annotation in which JOSDK used to keep the previous state. Differences in it are ignored, because otherwise what
/// JOSDK has left behind would be one. JOSDK: `PREVIOUS_ANNOTATION_KEY` of `KubernetesDependentResource`.
const PREVIOUS_ANNOTATION: &str = "javaoperatorsdk.io/previous";

/// How everything but metadata is compared. JOSDK: the arguments `valuesEquality` and `ignoreList` of
/// `GenericKubernetesResourceMatcher`, which can't be combined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Comparison {
    /// What is desired must exist. Anything in addition is assumed to come from the server or from someone else. So a
    /// field, a map entry or a list item that is *no longer desired* is not detected.
    #[default]
    ToleratingAdditions,
    /// Everything must be the same.
    Equal,
    /// Everything must be the same except what is at these paths, each a list of JSON pointer segments. Made by
    /// [`Comparison::equal_except`].
    EqualExcept(Vec<Vec<String>>),
}

impl Comparison {
    /// Everything must be the same except what is at or below these JSON pointers (`/spec/replicas`). Items of lists
    /// are identified by their position in the desired object. A pointer means whole segments: unlike in JOSDK, `/spec`
    /// does not include `/specification`.
    pub fn equal_except<S: AsRef<str>>(pointers: impl IntoIterator<Item = S>) -> Self {
        Self::EqualExcept(pointers.into_iter().map(|pointer| segments(pointer.as_ref())).collect())
    }
}

/// Compares a dependent that is written by replacement, which leaves no record of who owns which field.
///
/// `apiVersion`, `kind` and `status` are not compared, and of the metadata only labels and annotations are. Quantities,
/// defaults and dropped zero values are taken as the server takes them. A `null`, an empty list and an empty map (`data`, `nodeSelector`, …)
/// are the same as nothing, since the server stores them as nothing.
///
/// Lists keep their order: the desired items must be in the actual list in the same order, possibly with others between
/// them if additions are tolerated.
///
/// JOSDK: `GenericKubernetesResourceMatcher`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenericMatcher {
    comparison: Comparison,
    labels_and_annotations_equality: bool,
}

impl GenericMatcher {
    /// Tolerates additions everywhere, as JOSDK does by default.
    #[must_use]
    pub const fn new() -> Self {
        Self { comparison: Comparison::ToleratingAdditions, labels_and_annotations_equality: false }
    }

    /// How everything but metadata is compared.
    #[must_use]
    pub fn comparison(mut self, comparison: Comparison) -> Self {
        self.comparison = comparison;
        self
    }

    /// Whether labels and annotations must be equal, too, so that those of others are a difference. A replacement
    /// doesn't remove them, so this is for objects that no one else labels. JOSDK: `labelsAndAnnotationsEquality`.
    #[must_use]
    pub const fn labels_and_annotations_equality(mut self, equality: bool) -> Self {
        self.labels_and_annotations_equality = equality;
        self
    }

    /// Whether `actual` is as desired. Never [`Match::NeverApplied`].
    pub fn matches(&self, desired: &Value, actual: &Value) -> Match {
        let plain = self.compare(desired, actual);
        match (&plain, sanitized(desired, actual)) {
            (Match::Differs(_), Some(desired)) => self.compare(&desired, actual),
            _ => plain,
        }
    }

    /// Whether the status of `actual` has what is desired; what it has in addition is tolerated. JOSDK: `matchStatus`.
    pub fn match_status(desired: &Value, actual: &Value) -> Match {
        let mut walk = Walk::new(Additions::Tolerated);
        let path = Path::Field(&Path::Root, "status");
        walk.field(&path, "status", desired.get("status"), actual.get("status"), &Ignored::default());
        walk.into_match()
    }

    fn compare(&self, desired: &Value, actual: &Value) -> Match {
        let (additions, ignored) = match &self.comparison {
            Comparison::ToleratingAdditions => (Additions::Tolerated, Ignored::default()),
            Comparison::Equal => (Additions::Differ, Ignored::default()),
            Comparison::EqualExcept(paths) => (Additions::Differ, Ignored::at_root(paths)),
        };
        let mut walk = Walk::new(additions);
        let not_compared = |name: &str| matches!(name, "apiVersion" | "kind" | "metadata" | "status");
        walk.object(&Path::Root, desired, actual, &ignored, &not_compared);

        walk.additions =
            if self.labels_and_annotations_equality { Additions::Differ } else { Additions::Tolerated };
        let metadata = Path::Field(&Path::Root, "metadata");
        let Some(ignored) = ignored.below("metadata") else { return walk.into_match() };
        let nothing = Value::Object(serde_json::Map::new());
        for name in ["labels", "annotations"] {
            let Some(ignored) = ignored.below(name) else { continue };
            let of = |object: &Value| present(object.get("metadata")?.get(name)).cloned();
            let (desired, actual) = (of(desired), of(actual));
            walk.object(
                &Path::Field(&metadata, name),
                desired.as_ref().unwrap_or(&nothing),
                actual.as_ref().unwrap_or(&nothing),
                &ignored,
                &|key| key == PREVIOUS_ANNOTATION,
            );
        }
        walk.into_match()
    }
}

/// How additional content of the actual value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Additions {
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
struct Walk {
    additions: Additions,
    paths: Vec<String>,
    /// The maximum number of differences; no more are searched for.
    limit: usize,
}

impl Walk {
    const fn new(additions: Additions) -> Self {
        Self { additions, paths: Vec::new(), limit: MAX_PATHS }
    }

    fn into_match(self) -> Match {
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
    fn field(
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
    fn object(
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

/// The position of a walk among the ignored paths: those that are still ahead, without the segments already passed.
#[derive(Clone, Debug, Default)]
struct Ignored<'i>(Vec<&'i [String]>);

impl<'i> Ignored<'i> {
    /// At the root.
    fn at_root(paths: &'i [Vec<String>]) -> Self {
        Self(paths.iter().map(Vec::as_slice).collect())
    }

    /// One segment further. `None` if the place is ignored.
    fn below(&self, segment: &str) -> Option<Self> {
        let mut ahead = Vec::new();
        for path in &self.0 {
            if let Some((first, rest)) = path.split_first()
                && first == segment
            {
                if rest.is_empty() {
                    return None;
                }
                ahead.push(rest);
            }
        }
        Some(Self(ahead))
    }

    /// The same for an item of a list.
    fn item(&self, position: usize) -> Option<Self> {
        if self.0.is_empty() { Some(Self::default()) } else { self.below(&position.to_string()) }
    }
}

/// The segments of a JSON pointer. A missing slash at the start is added.
fn segments(pointer: &str) -> Vec<String> {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split('/').map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect()
}
