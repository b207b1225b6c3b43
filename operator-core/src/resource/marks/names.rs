//! The keys of the marks.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

/// The keys of the labels and of the annotation that show which node and primary an object belongs to.
///
/// By default they start with `operator-core.io/`; see `OperatorBuilder::mark_prefix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkNames {
    /// The label with the controller's name.
    pub(super) controller: Arc<str>,
    /// The label with the node's name.
    pub(super) node: Arc<str>,
    /// The label with the uid of the primary.
    pub(super) owner: Arc<str>,
    /// The annotation that is never valid on a copy of the object.
    pub(super) mark: Arc<str>,
    /// The annotation with the version of the API in which the object was written last.
    api_version: Arc<str>,
    /// The annotation of a primary that records which of its Jobs were done.
    done_jobs: Arc<str>,
    /// The annotation of a primary that notes creates of records in other systems.
    attempts: Arc<str>,
    /// The annotation of a primary by which a person makes the operator forget such a create.
    forget_attempt: Arc<str>,
    /// The annotation of a primary that records the kinds of which its nodes of several kinds may have objects.
    kinds: Arc<str>,
}

impl MarkNames {
    /// The default prefix of the keys.
    pub const PREFIX: &'static str = "operator-core.io";

    /// Keys that start with `prefix/`.
    pub(crate) fn new(prefix: &str) -> Self {
        let key = |name: &str| Arc::from(format!("{prefix}/{name}"));
        Self {
            controller: key("controller"),
            node: key("node"),
            owner: key("owner"),
            mark: key("mark"),
            api_version: key("last-applied-api-version"),
            done_jobs: key("done-jobs"),
            attempts: key("attempts"),
            forget_attempt: key("forget-attempt"),
            kinds: key("kinds"),
        }
    }

    /// What the keys begin with, without the slash.
    pub(crate) fn prefix(&self) -> &str {
        self.mark.split_once('/').map_or(Self::PREFIX, |(prefix, _)| prefix)
    }

    /// The key of the annotation of an object that is applied with each generation of its primary.
    pub(crate) fn component_generation(&self) -> String {
        format!("{}/component-generation", self.prefix())
    }

    /// Whether a label with this key is one of the marks.
    #[cfg(feature = "testing")]
    pub(crate) fn has(&self, label: &str) -> bool {
        [&self.controller, &self.node, &self.owner].iter().any(|key| ***key == *label)
    }

    /// The keys of the annotations.
    pub(crate) fn annotations(&self) -> impl Iterator<Item = String> {
        let keys = [
            &self.mark,
            &self.api_version,
            &self.done_jobs,
            &self.attempts,
            &self.forget_attempt,
            &self.kinds,
        ];
        keys.map(|key| key.to_string()).into_iter()
    }

    /// Whether an object with metadata `actual` has the marks of `desired`.
    pub(crate) fn stand_as(&self, desired: &ObjectMeta, actual: &ObjectMeta) -> bool {
        fn label<'m>(meta: &'m ObjectMeta, key: &str) -> Option<&'m String> {
            meta.labels.as_ref()?.get(key)
        }
        let same = |key: &Arc<str>| label(desired, key) == label(actual, key);
        let mark = |meta| self.mark_in(meta).map(|mark| split_mark(mark).0);
        [&self.controller, &self.node, &self.owner].into_iter().all(same) && mark(desired) == mark(actual)
    }

    /// The labels among the marks of an object with this metadata.
    pub(super) fn labels_in(&self, meta: &ObjectMeta) -> Value {
        let all = [&self.controller, &self.node, &self.owner];
        let labels = all
            .iter()
            .map(|key| ((***key).to_owned(), meta.labels.as_ref().and_then(|all| all.get(&***key))));
        Value::Object(labels.map(|(key, value)| (key, json!(value))).collect())
    }

    /// The annotations of a primary that the framework writes itself: not a reconciler's, whatever it writes.
    pub(crate) fn of_primaries(&self) -> [&str; 4] {
        [&self.done_jobs, &self.attempts, &self.forget_attempt, &self.kinds]
    }

    /// The annotation of the object with this metadata that is never valid on a copy of the object.
    pub(crate) fn mark_in<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        meta.annotations.as_ref()?.get(&*self.mark).map(String::as_str)
    }

    /// The key of the label with the controller's name.
    #[must_use]
    pub fn controller(&self) -> &str {
        &self.controller
    }

    /// The key of the label with the node's name.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The key of the label with the primary's uid.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The key of the annotation that is never valid on a copy of the object.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// The key of the annotation with the version of the API in which a node with `detect_api_version_change()` has
    /// written the object last. JOSDK: `javaoperatorsdk.io/last-applied-api-version`.
    #[must_use]
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// Whether an object with metadata `actual` was last written in the same version as `desired`; true if that has
    /// none.
    pub(crate) fn same_api_version(&self, desired: &ObjectMeta, actual: &ObjectMeta) -> bool {
        let version = |meta: &ObjectMeta| {
            meta.annotations.as_ref().and_then(|all| all.get(&*self.api_version)).cloned()
        };
        version(desired).is_none_or(|wanted| version(actual) == Some(wanted))
    }

    /// The key of the annotation of a primary that records which of its Jobs have succeeded, and for which content.
    #[must_use]
    pub fn done_jobs(&self) -> &str {
        &self.done_jobs
    }

    /// The key of the annotation of a primary that records the kinds of which its nodes of several kinds may have objects.
    #[must_use]
    pub(crate) fn kinds(&self) -> &str {
        &self.kinds
    }

    /// The key of the annotation of a primary that notes the started creates of records in other systems.
    #[must_use]
    pub fn attempts(&self) -> &str {
        &self.attempts
    }

    /// The key of the annotation of a primary in which a person names a create that has made nothing.
    #[must_use]
    pub fn forget_attempt(&self) -> &str {
        &self.forget_attempt
    }
}

/// The two hashes of a mark that identify the owner, and the digest of the content applied last, if it was applied.
pub(crate) fn split_mark(mark: &str) -> (&str, Option<&str>) {
    match mark.match_indices('.').nth(1) {
        Some((end, _)) => (&mark[..end], Some(&mark[end + 1..])),
        None => (mark, None),
    }
}

impl Default for MarkNames {
    fn default() -> Self {
        Self::new(Self::PREFIX)
    }
}
