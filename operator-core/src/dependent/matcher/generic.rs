//! The matcher for dependents that are replaced.

use serde_json::Value;

use super::{
    ignored::{Ignored, segments},
    sanitize::sanitized,
    ssa::PREVIOUS_ANNOTATION,
    tolerant::{Additions, Walk},
};
use crate::operations::matcher::{Match, Path, present};

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
/// defaults and dropped zero values are taken as the server takes them, as by
/// [`matches_applied`](super::matches_applied). A `null`, an empty list and an empty map (`data`, `nodeSelector`, …)
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
        match (&plain, sanitized(desired, actual, None)) {
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
