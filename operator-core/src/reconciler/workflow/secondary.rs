//! What a dependent has written or found.

use std::{any::Any, fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use super::{DependentError, Operation};
use crate::{
    reconciler::BoxError,
    resource::{AnyObject, KubeObject, ObjectKey, ResourceType},
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

    /// A resource outside the cluster; `id` distinguishes it from others of its dependent.
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

    /// Fails for an object that can't be decoded, which conditions must not treat as missing.
    pub(crate) fn check(&self) -> serde_json::Result<()> {
        match &self.resource {
            Held::Object(object) => object.check(),
            Held::Outside(_) => Ok(()),
        }
    }

    /// Distinguishes it from others of its dependent.
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

    /// An object in the cluster as JSON, with its kind; `None` for a resource outside.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        let Held::Object(object) = &self.resource else { return None };
        let mut json = object.to_value().ok()?;
        // Typed objects carry their kind in the type only.
        if let (Some(kind), Some(fields)) = (&self.kind, json.as_object_mut()) {
            fields.insert("apiVersion".to_owned(), kind.api_version().into());
            fields.insert("kind".to_owned(), kind.kind().into());
        }
        Some(json)
    }
}

/// The content is not shown because it may be a Secret's.
impl fmt::Debug for Secondary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secondary").field("kind", &self.kind).field("id", &self.id).finish_non_exhaustive()
    }
}

/// What one reconcile of a dependent did: nothing, one resource, or several of a bulk dependent. JOSDK's
/// `ReconcileResult`.
#[derive(Clone, Debug, Default)]
pub struct ReconcileResult {
    operations: Vec<(Operation, Secondary)>,
    failed: Vec<(String, Arc<BoxError>)>,
    /// The number of resources that were worked on, including those that failed.
    items: usize,
    desired: Option<usize>,
    /// The number of desired resources that are over: Jobs that were done, and are gone.
    over: usize,
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

    /// Whether nothing has to exist: nothing is desired, or all that is desired is over.
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

    /// The greatest change to any of the resources: one created among many matched ones makes `Created`.
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
