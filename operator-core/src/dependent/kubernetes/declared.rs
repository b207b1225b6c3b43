//! The declaration of a dependent in the cluster.

use std::{fmt, sync::Arc};

use super::Desired;
use crate::{
    dependent::{Capabilities, Dependent, IntoDependent, custom::default_name},
    event_source::InformerEventSource,
    resource::{KubeObject, ResourceType},
};

/// Declares that an object in the cluster follows from a primary: create, update and garbage collection by an owner
/// reference, unless told otherwise. Answers to JOSDK's `KubernetesDependentResource`.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct KubernetesDependent<D: Desired<P>, P: KubeObject> {
    pub(super) name: Arc<str>,
    pub(super) dependent: D,
    pub(super) kind: ResourceType,
    pub(super) capabilities: Capabilities,
    pub(super) source: Source<D::Resource>,
}

/// Where a dependent reads its object from.
pub(super) enum Source<K: KubeObject> {
    /// The informer of all dependents of this kind that ask for nothing else; called like the kind.
    OfKind(Arc<InformerEventSource<K>>),
    /// An informer of its own; called like the dependent.
    Own(Arc<InformerEventSource<K>>),
    /// An event source that the controller declares under that name.
    Named(Arc<str>),
}

impl<D: Desired<P>, P: KubeObject> KubernetesDependent<D, P>
where
    <D::Resource as kube::Resource>::DynamicType: Default,
{
    /// Full management with an owner reference.
    pub fn new(dependent: D) -> Self {
        Self::of_type(dependent, Default::default())
    }
}

impl<D: Desired<P>, P: KubeObject> KubernetesDependent<D, P> {
    /// The same for a type that is known at run time only.
    pub fn of_type(dependent: D, dynamic: <D::Resource as kube::Resource>::DynamicType) -> Self {
        let kind = ResourceType::with::<D::Resource>(&dynamic);
        let name = default_name::<D>();
        let source = Source::OfKind(Arc::new(InformerEventSource::of_type(dynamic)));
        Self { name, dependent, kind, capabilities: Capabilities::CRUD, source }
    }

    /// What it may do; by default [`Capabilities::CRUD`].
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Names it; by default it is the last segment of the type's name.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Uses the event source that the controller declares under that name. By default all dependents of a kind share one
    /// informer.
    pub fn event_source(mut self, name: impl Into<Arc<str>>) -> Self {
        self.source = Source::Named(name.into());
        self
    }

    /// Watches by an informer of its own, with its own selectors, namespaces, filters or mapper.
    pub fn informer(mut self, source: InformerEventSource<D::Resource>) -> Self {
        self.source = Source::Own(Arc::new(source));
        self
    }
}

impl<D: Desired<P>, P: KubeObject> IntoDependent<P> for KubernetesDependent<D, P> {
    fn into_dependent(self) -> Dependent<P> {
        Dependent::new(Arc::clone(&self.name), self)
    }
}

impl<D: Desired<P>, P: KubeObject> fmt::Debug for KubernetesDependent<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubernetesDependent")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}
