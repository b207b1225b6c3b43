//! What the engine asks of a dependent in the cluster.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use kube::Resource;

use super::{Desired, KubernetesDependent, declared::Source};
use crate::{
    dependent::{Capabilities, DependentSource, Engine, Error},
    event_source::Access,
    reconciler::{
        BoxError, Context,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::{KubeObject, ObjectKey},
};

impl<D: Desired<P>, P: KubeObject> KubernetesDependent<D, P> {
    fn source_name(&self) -> &str {
        match &self.source {
            Source::OfKind(_) => self.kind.kind(),
            Source::Own(_) => &self.name,
            Source::Named(name) => name,
        }
    }

    /// The primary's object with the name of the desired one.
    fn actual(&self, desired: &D::Resource, context: &Context<P>) -> Option<Arc<D::Resource>> {
        let source = context.event_source::<D::Resource>(self.source_name())?;
        let key = ObjectKey::of(desired);
        source
            .secondaries_of(context.primary_key())
            .into_iter()
            .find(|object| ObjectKey::of(&**object) == key)
    }

    fn desired(&self, primary: &P, context: &Context<P>) -> Result<D::Resource, BoxError> {
        let mut desired = self.dependent.desired(primary, context)?;
        let owner =
            context.owner_reference(primary).ok_or_else(|| Error::NoUid(context.primary_key().clone()))?;
        desired.meta_mut().owner_references.get_or_insert_default().push(owner);
        Ok(desired)
    }

    fn secondary(&self, object: Arc<D::Resource>) -> Secondary {
        Secondary::of_object(object, self.kind.clone())
    }
}

impl<D: Desired<P>, P: KubeObject> Engine<P> for KubernetesDependent<D, P> {
    fn reconcile<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<ReconcileResult, BoxError>> {
        async move {
            let desired = self.desired(primary, context)?;
            let actual = self.actual(&desired, context);
            let operations = context.resource_operations().event_source(self.source_name());
            let written = operations.server_side_apply(&desired).await?;
            let version = |object: &Arc<D::Resource>| object.meta().resource_version.clone();
            let operation = match &actual {
                None => Operation::Created,
                Some(actual) if version(actual) == version(&written) => Operation::Matched,
                Some(_) => Operation::Updated,
            };
            Ok(ReconcileResult::of(operation, self.secondary(written)))
        }
        .boxed()
    }

    fn delete<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<(), BoxError>> {
        async move {
            let desired = self.desired(primary, context)?;
            if let Some(actual) = self.actual(&desired, context) {
                context.resource_operations().event_source(self.source_name()).delete(&*actual).await?;
            }
            Ok(())
        }
        .boxed()
    }

    fn secondaries<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<Vec<Secondary>, BoxError>> {
        async move {
            let desired = self.desired(primary, context)?;
            Ok(self.actual(&desired, context).map(|actual| self.secondary(actual)).into_iter().collect())
        }
        .boxed()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn event_sources(&self) -> Vec<DependentSource> {
        match &self.source {
            Source::OfKind(source) => vec![DependentSource::shared(Arc::clone(source))],
            Source::Own(source) => vec![DependentSource::own(Arc::clone(source))],
            Source::Named(_) => Vec::new(),
        }
    }

    fn access(&self) -> Vec<Access> {
        let mut verbs = Vec::new();
        if self.capabilities.can_create() || self.capabilities.can_update() {
            verbs.extend(["create", "patch"]);
        }
        if self.capabilities.can_delete() {
            verbs.push("delete");
        }
        vec![Access { resource_type: self.kind.clone(), subresource: None, verbs }]
    }
}
