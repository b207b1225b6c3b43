//! The resources that a dependent has written or found.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use super::{DependentError, Operation};
use crate::{
    error::BoxError,
    resource::{AnyObject, KubeObject, ObjectKey, ResourceType},
    status::kstatus::Kstatus,
};

/// A secondary resource of any type, as dependents pass it to conditions and results. Cheap to clone.
#[derive(Clone)]
pub struct Secondary {
    resource: Held,
    id: Arc<str>,
    kind: Option<ResourceType>,
}

#[derive(Clone)]
enum Held {
    Object(AnyObject),
    Outside(Arc<dyn Any + Send + Sync>),
}

impl Held {
    /// Whether this is a newer state than the other one, which was read or written earlier. An object's version shows
    /// this; without a comparable version, it isn't newer, as it may be from before a write.
    fn is_newer_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(new), Self::Object(old)) => {
                match (new.resource_version(), old.resource_version()) {
                    (Some(new), Some(old)) => new > old,
                    _ => false,
                }
            }
            _ => true,
        }
    }
}

impl Secondary {
    /// An object in the cluster.
    #[must_use]
    pub fn of_object<K: KubeObject>(object: Arc<K>, kind: ResourceType) -> Self {
        Self::of_any(object, kind)
    }

    /// The same for an object of any type.
    pub(crate) fn of_any(object: AnyObject, kind: ResourceType) -> Self {
        let id = Arc::from(ObjectKey::in_meta(object.meta()).to_string());
        Self { resource: Held::Object(object), id, kind: Some(kind) }
    }

    /// A resource outside the cluster; `id` distinguishes it from its dependent's other resources.
    #[must_use]
    pub fn external<T: Send + Sync + 'static>(resource: Arc<T>, id: impl Into<Arc<str>>) -> Self {
        Self { resource: Held::Outside(resource), id: id.into(), kind: None }
    }

    /// The resource, if it is one of type `T`.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        match &self.resource {
            Held::Object(object) => AnyObject::clone(object).into_any().downcast().ok(),
            Held::Outside(resource) => Arc::clone(resource).downcast().ok(),
        }
    }

    /// Takes this state of an object, if it is newer.
    pub(crate) fn renew(&mut self, object: AnyObject) {
        self.take(Held::Object(object));
    }

    fn take(&mut self, read: Held) {
        if read.is_newer_than(&self.resource) {
            self.resource = read;
        }
    }

    /// Fails for an object that can't be decoded, which conditions must not treat as missing.
    pub(crate) fn check(&self) -> serde_json::Result<()> {
        match &self.resource {
            Held::Object(object) => object.check(),
            Held::Outside(_) => Ok(()),
        }
    }

    /// Distinguishes it from its dependent's other resources.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The kind of an object in the cluster.
    #[must_use]
    pub fn kind(&self) -> Option<&ResourceType> {
        self.kind.as_ref()
    }

    /// The metadata of an object in the cluster.
    pub(crate) fn meta(&self) -> Option<&ObjectMeta> {
        match &self.resource {
            Held::Object(object) => Some(object.meta()),
            Held::Outside(_) => None,
        }
    }

    /// Whether it is an object of a kind that has no status, and isn't being deleted: then it is as requested. This holds for
    /// most children, which are neither decoded nor serialized for this check.
    #[must_use]
    pub fn has_no_status(&self) -> bool {
        let statusless = self
            .kind()
            .is_some_and(|kind| matches!((kind.group(), kind.kind()), ("", "ConfigMap" | "Secret")));
        statusless && self.meta().is_some_and(|meta| meta.deletion_timestamp.is_none())
    }

    /// An object in the cluster as JSON, with its kind; `None` for a resource outside.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        let Held::Object(object) = &self.resource else { return None };
        let mut json = object.to_value().ok()?;
        // For typed objects, only the type has the kind.
        if let (Some(kind), Some(fields)) = (&self.kind, json.as_object_mut()) {
            fields.insert("apiVersion".to_owned(), kind.api_version().into());
            fields.insert("kind".to_owned(), kind.kind().into());
        }
        Some(json)
    }
}

// The content is not shown because it may be a Secret's.
debug_of!(Secondary: "Secondary", |it| kind: it.kind, id: it.id);

/// The outcome of one reconcile of a dependent: nothing, one resource, or several of a bulk dependent. JOSDK's
/// `ReconcileResult`.
#[derive(Clone, Debug, Default)]
pub struct ReconcileResult {
    operations: Vec<(Operation, Secondary)>,
    failed: Vec<(String, Arc<BoxError>)>,
    /// The number of resources that were worked on, including those that failed.
    items: usize,
    desired: Option<usize>,
    /// The number of desired resources that are over: Jobs that were done and are gone.
    over: usize,
    /// What was looked for and isn't there, in words, and who might make it.
    lacking: Option<(String, String)>,
    /// Whether resources are left that aren't desired any more.
    pub(crate) leaves: bool,
    /// Whether it isn't known yet if it is there.
    pub(crate) is_unknown: bool,
    /// How far resources of several kinds are together.
    progress: Option<Box<Progress>>,
}

/// How far resources of several kinds are together.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) told: Kstatus,
    /// Whether the dependent has come to the last of them.
    pub(crate) is_whole: bool,
    /// Those that aren't ready, and why.
    pub(crate) unready: Vec<(Secondary, Kstatus)>,
}

impl ReconcileResult {
    /// Nothing existed, and nothing had to be done.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// One resource.
    #[must_use]
    pub fn of(operation: Operation, resource: Secondary) -> Self {
        Self::aggregated(vec![(operation, resource)])
    }

    /// Several.
    #[must_use]
    pub fn aggregated(operations: Vec<(Operation, Secondary)>) -> Self {
        Self { items: operations.len(), operations, ..Self::default() }
    }

    /// The outcomes of the items of a bulk dependent.
    pub(crate) fn of_items(
        operations: Vec<(Operation, Secondary)>,
        failed: Vec<(String, Arc<BoxError>)>,
        items: usize,
    ) -> Self {
        Self { operations, failed, items, ..Self::default() }
    }

    /// With the number of desired resources.
    pub(crate) fn desiring(mut self, desired: usize) -> Self {
        self.desired = Some(desired);
        self
    }

    /// With the number of desired resources that are over.
    pub(crate) fn over(mut self, over: usize) -> Self {
        self.over = over;
        self
    }

    /// Nothing, where these words say what was looked for, and who might make it; the latter may be empty.
    pub(crate) fn lacks(what: String, who: String) -> Self {
        Self { lacking: Some((what, who)), ..Self::default() }
    }

    /// With the knowledge whether resources are left that aren't desired any more.
    pub(crate) fn leaving(mut self, leaves: bool) -> Self {
        self.leaves = leaves;
        self
    }

    /// With how far they are together, if the dependent knows.
    pub(crate) fn progressing(mut self, progress: Progress) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The objects of a node with several kinds that aren't ready yet, in no order, and why.
    #[must_use]
    pub fn unready(&self) -> &[(Secondary, Kstatus)] {
        self.progress.as_deref().map_or(&[], |progress| &progress.unready)
    }

    /// How far they are together, if the dependent knows.
    pub(crate) fn progress(&self) -> Option<&Progress> {
        self.progress.as_deref()
    }

    /// An object that is being deleted, in words.
    pub(crate) fn going(&self) -> Option<String> {
        let is_going = |of: &&Secondary| of.meta().is_some_and(|meta| meta.deletion_timestamp.is_some());
        let kept = self.operations.iter().filter(|(operation, _)| *operation != Operation::Deleted);
        let going = kept.map(|(_, of)| of).find(is_going)?;
        Some(going.kind().map_or_else(|| going.id().to_owned(), |kind| format!("{kind} {}", going.id())))
    }

    /// Adds what was done about these resources.
    pub(crate) fn add(&mut self, further: Self) {
        self.operations.extend(further.operations);
        self.failed.extend(further.failed);
        self.items += further.items;
        self.leaves = further.leaves;
    }

    /// The same where it isn't known yet whether it is there: nothing goes on without it.
    pub(crate) fn unknown(what: String) -> Self {
        Self { is_unknown: true, ..Self::lacks(what, String::new()) }
    }

    /// What was looked for and isn't there, and who might make it.
    pub(crate) fn lacking(&self) -> Option<&(String, String)> {
        self.lacking.as_ref()
    }

    /// Takes newer states that were read since.
    pub(crate) fn renew(&mut self, read: &[Secondary]) {
        match (&mut self.operations[..], read) {
            // Most results have one resource.
            ([(_, known)], [read]) if known.id == read.id => known.take(read.resource.clone()),
            (all, read) => {
                let by_id: BTreeMap<&str, &Secondary> = read.iter().map(|read| (read.id(), read)).collect();
                for (_, known) in all {
                    if let Some(read) = by_id.get(known.id()) {
                        known.take(read.resource.clone());
                    }
                }
            }
        }
    }

    /// Whether nothing has to exist: nothing is desired, or everything desired is over.
    pub(crate) fn has_nothing_to_show(&self) -> bool {
        match self.desired {
            Some(desired) => desired == self.over,
            None => self.over > 0,
        }
    }

    /// What was done, resource by resource.
    #[must_use]
    pub fn operations(&self) -> &[(Operation, Secondary)] {
        &self.operations
    }

    /// The resources of a bulk dependent that failed, by their keys, each with its error; the others are among the
    /// [`operations`](Self::operations).
    #[must_use]
    pub fn failed(&self) -> &[(String, Arc<BoxError>)] {
        &self.failed
    }

    /// The number of desired resources; `None` if the dependent doesn't report it. A bulk dependent does, unless it
    /// only reads.
    #[must_use]
    pub fn desired(&self) -> Option<usize> {
        self.desired
    }

    /// The failures of all resources as one.
    ///
    /// # Errors
    /// If one failed.
    pub fn check(&self) -> Result<(), DependentError> {
        match &self.failed[..] {
            [] => Ok(()),
            failed => Err(DependentError::Items { failed: failed.to_vec(), of: self.items }),
        }
    }

    /// The greatest change to any of the resources: with one created resource among many matched ones it is `Created`.
    #[must_use]
    pub fn operation(&self) -> Operation {
        let all = self.operations.iter().map(|(operation, _)| *operation);
        all.min_by_key(|operation| match operation {
            Operation::Created => 0,
            Operation::Updated => 1,
            Operation::Deleted => 2,
            Operation::Matched => 3,
        })
        .unwrap_or(Operation::Matched)
    }

    /// The first resource of type `T`.
    #[must_use]
    pub fn resource<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.operations.iter().find_map(|(_, resource)| resource.get())
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn map(name: &str, version: &str) -> Secondary {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        map.metadata.resource_version = Some(version.to_owned());
        Secondary::of_object(Arc::new(map), ResourceType::of::<ConfigMap>())
    }

    /// The reported states of the first list after the second list was read.
    fn told(written: Vec<Secondary>, read: &[Secondary]) -> String {
        let operations = written.into_iter().map(|object| (Operation::Updated, object)).collect();
        let mut result = ReconcileResult::aggregated(operations);
        result.renew(read);
        let versions = result.operations().iter().map(|(_, of)| match of.get::<u32>() {
            Some(outside) => outside.to_string(),
            None => of.meta().and_then(|meta| meta.resource_version.clone()).unwrap_or_default(),
        });
        versions.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_told_of_a_resource_is_never_older_than_what_was_written_or_read() {
        assert_eq!(told(vec![map("a", "9")], &[map("a", "10")]), "10");
        assert_eq!(told(vec![map("a", "10")], &[map("a", "9")]), "10", "from before the write");
        assert_eq!(told(vec![map("a", "10")], &[]), "10");
        assert_eq!(told(vec![map("a", "10")], &[map("b", "11")]), "10", "another one");
        assert_eq!(told(vec![map("a", "x1")], &[map("a", "x2")]), "x1", "nobody knows which is newer");
        let several = vec![map("c", "1"), map("a", "5"), map("b", "3")];
        assert_eq!(told(several, &[map("a", "4"), map("b", "6"), map("d", "8")]), "1 5 6");
        assert_eq!(told(Vec::new(), &[map("a", "1")]), "", "what the run hasn't come to stays away");
        let outside = |value: u32| Secondary::external(Arc::new(value), "meter");
        assert_eq!(told(vec![outside(2)], &[outside(1)]), "1", "what has no version was read later");
    }
}
