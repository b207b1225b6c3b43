//! What the engine asks of a dependent that knows itself how it is read and written.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::{CustomDependent, DependentResource};
use crate::{
    dependent::{Capabilities, DependentSource, Engine},
    event_source::{Access, ExternalSource},
    reconciler::{
        BoxError, Context,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::KubeObject,
};

impl<D: DependentResource<P>, P: KubeObject> CustomDependent<D, P> {
    /// Sees to it that the object exists which keeps the resource's id.
    async fn keep_state(
        &self,
        resource: &D::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<(), BoxError> {
        match &self.state {
            Some(state) => (state.ensure)(&self.dependent, resource, primary, context).await,
            None => Ok(()),
        }
    }

    /// What is there now: by the other system's word where that is in doubt, else as the source remembers it.
    async fn look(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Option<Arc<D::Resource>>, BoxError> {
        self.memory.refresh::<P, D::Resource>(&self.name, context).await?;
        let actual = self.dependent.secondary(primary, context).await?;
        if actual.is_some() {
            self.memory.created(context.primary_key());
        }
        Ok(actual)
    }

    fn store(&self, context: &Context<P>) -> Result<Option<ExternalSource<D::Resource>>, BoxError> {
        self.memory.store(&self.name, context)
    }
}

impl<D: DependentResource<P>, P: KubeObject> Engine<P> for CustomDependent<D, P> {
    fn reconcile<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<ReconcileResult, BoxError>> {
        async move {
            let dependent = &self.dependent;
            let Some(actual) = self.look(primary, context).await? else {
                let Some(creates) = &self.create else { return Ok(ReconcileResult::nothing()) };
                let desired = (creates.desired)(dependent, primary, context)?;
                self.memory.begin_create(context.primary_key());
                let created = (creates.create)(dependent, desired, primary, context).await?;
                self.memory.created(context.primary_key());
                // Before the state is kept: should that fail, the next run still knows the resource.
                if let Some(source) = self.store(context)? {
                    source.created(context.primary_key(), Arc::clone(&created));
                }
                self.keep_state(&created, primary, context).await?;
                return Ok(ReconcileResult::of(Operation::Created, self.secondary_of(created)));
            };
            self.keep_state(&actual, primary, context).await?;
            let Some(update) = &self.update else {
                return Ok(ReconcileResult::of(Operation::Matched, self.secondary_of(actual)));
            };
            let desired = (update.desired)(dependent, primary, context)?;
            if (update.matches)(dependent, &actual, &desired, primary, context) {
                return Ok(ReconcileResult::of(Operation::Matched, self.secondary_of(actual)));
            }
            let updated = (update.update)(dependent, &actual, desired, primary, context).await?;
            if let Some(source) = self.store(context)? {
                source.updated(context.primary_key(), &actual, Arc::clone(&updated));
            }
            Ok(ReconcileResult::of(Operation::Updated, self.secondary_of(updated)))
        }
        .boxed()
    }

    fn delete<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<(), BoxError>> {
        async move {
            let Some(delete) = self.delete else { return Ok(()) };
            let Some(actual) = self.look(primary, context).await? else { return Ok(()) };
            delete(&self.dependent, &actual, primary, context).await?;
            if let Some(source) = self.store(context)? {
                source.deleted(context.primary_key(), &actual);
            }
            // Last, so that what still exists is not forgotten.
            match &self.state {
                Some(state) => (state.delete)(&self.dependent, &actual, primary, context).await,
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn secondaries<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<Vec<Secondary>, BoxError>> {
        async move {
            let actual = self.look(primary, context).await?;
            Ok(actual.map(|actual| self.secondary_of(actual)).into_iter().collect())
        }
        .boxed()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(self.create.is_some(), self.update.is_some(), self.delete.is_some())
    }

    fn event_sources(&self) -> Vec<DependentSource> {
        self.dependent.event_sources()
    }

    fn access(&self) -> Vec<Access> {
        Vec::new()
    }
}
