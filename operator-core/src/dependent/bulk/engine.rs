//! What the engine asks of a bulk dependent of the user's own.

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{
    BulkCustomDependent, BulkDependentResource, Items, Work,
    declared::{Actual, Delete},
};
use crate::{
    dependent::{Capabilities, DependentSource, Engine},
    event_source::{Access, ExternalSource},
    reconciler::{
        BoxError, Context,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::KubeObject,
};

impl<D: BulkDependentResource<P>, P: KubeObject> BulkCustomDependent<D, P> {
    /// What it takes to delete these.
    fn deletions<'r>(
        &'r self,
        delete: Delete<D, P>,
        unwanted: Actual<D, P>,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> impl Iterator<Item = (String, Work<'r>)> + Send + 'r {
        unwanted.into_iter().map(move |(key, actual)| {
            let name = key.to_string();
            let deletion = async move {
                delete(&self.dependent, &key, &actual, primary, context).await?;
                if let Some(source) = self.store(context)? {
                    source.deleted(context.primary_key(), &actual);
                }
                // Last, so that what still exists is not forgotten.
                if let Some(state) = &self.state {
                    (state.delete)(&self.dependent, &key, &actual, primary, context).await?;
                }
                Ok(Some((Operation::Deleted, Secondary::external(actual, key.to_string()))))
            };
            (name, deletion.boxed())
        })
    }

    /// What is there now: by the other system's word where that is in doubt, else as the source remembers it.
    async fn look(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Actual<D, P>, BoxError> {
        self.memory.refresh::<P, D::Resource>(&self.name, context).await?;
        self.dependent.secondaries(primary, context).await
    }

    fn store(&self, context: &Context<P>) -> Result<Option<ExternalSource<D::Resource>>, BoxError> {
        self.memory.store(&self.name, context)
    }

    /// Creates or changes one, as far as the dependent may.
    async fn bring_about(
        &self,
        key: &D::Key,
        desired: &D::Resource,
        actual: Option<Arc<D::Resource>>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let dependent = &self.dependent;
        let of = context.primary_key();
        let (operation, resource) = match (actual, self.create, self.update) {
            (None, None, _) => return Ok(None),
            (None, Some(create), _) => {
                self.memory.begin_create(of);
                let created = create(dependent, key, desired, primary, context).await?;
                // Before the state is kept: should that fail, the next run still knows the resource.
                if let Some(source) = self.store(context)? {
                    source.created(of, Arc::clone(&created));
                }
                (Operation::Created, created)
            }
            (Some(actual), _, Some((matches, update)))
                if !matches(dependent, &actual, desired, primary, context) =>
            {
                let updated = update(dependent, key, &actual, desired, primary, context).await?;
                if let Some(source) = self.store(context)? {
                    source.updated(of, &actual, Arc::clone(&updated));
                }
                (Operation::Updated, updated)
            }
            (Some(actual), ..) => (Operation::Matched, actual),
        };
        if let Some(state) = &self.state {
            (state.ensure)(dependent, key, &resource, primary, context).await?;
        }
        Ok(Some((operation, Secondary::external(resource, key.to_string()))))
    }
}

fn found<K: ToString, T: Send + Sync + 'static>(
    actual: BTreeMap<K, Arc<T>>,
) -> impl Iterator<Item = Secondary> {
    actual.into_iter().map(|(key, resource)| Secondary::external(resource, key.to_string()))
}

impl<D: BulkDependentResource<P>, P: KubeObject> Engine<P> for BulkCustomDependent<D, P> {
    fn reconcile<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<ReconcileResult, BoxError>> {
        async move {
            let mut actual = self.look(primary, context).await?;
            let Some(desire) = self.desired else {
                let matched = found(actual).map(|resource| (Operation::Matched, resource));
                return Ok(ReconcileResult::aggregated(matched.collect()));
            };
            let desired =
                context.memo().get_or_try(&self.memo, || desire(&self.dependent, primary, context))?;
            let mut items = Items::default();
            if let Some(delete) = self.delete {
                let (wanted, unwanted) = actual.into_iter().partition(|(key, _)| desired.contains_key(key));
                items.work(self.deletions(delete, unwanted, primary, context)).await;
                actual = wanted;
            }
            let mut work: Vec<(String, Work<'_>)> = Vec::new();
            for (key, desired) in &*desired {
                let actual = actual.remove(key);
                let done = self.bring_about(key, desired, actual, primary, context);
                work.push((key.to_string(), done.boxed()));
            }
            items.work(work).await;
            let result = items.finish()?;
            // Every create was answered; otherwise the next look is a fresh one.
            self.memory.created(context.primary_key());
            Ok(result)
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
            let all = self.look(primary, context).await?;
            let mut items = Items::default();
            items.work(self.deletions(delete, all, primary, context)).await;
            items.finish().map(drop)
        }
        .boxed()
    }

    fn secondaries<'r>(
        &'r self,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> BoxFuture<'r, Result<Vec<Secondary>, BoxError>> {
        async move { Ok(found(self.look(primary, context).await?).collect()) }.boxed()
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
