//! What the engine asks of a bulk dependent of the user's own.

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{
    BulkCustomDependent, BulkDependentResource, Items, Work,
    declared::{Actual, Delete},
};
use crate::{
    dependent::{Capabilities, DependentSource, Engine},
    event_source::Access,
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
                Ok(Some((Operation::Deleted, Secondary::external(actual, key.to_string()))))
            };
            (name, deletion.boxed())
        })
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
        let (operation, resource) = match (actual, self.create, self.update) {
            (None, None, _) => return Ok(None),
            (None, Some(create), _) => {
                (Operation::Created, create(dependent, key, desired, primary, context).await?)
            }
            (Some(actual), _, Some((matches, update)))
                if !matches(dependent, &actual, desired, primary, context) =>
            {
                (Operation::Updated, update(dependent, key, &actual, desired, primary, context).await?)
            }
            (Some(actual), ..) => (Operation::Matched, actual),
        };
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
            let mut actual = self.dependent.secondaries(primary, context).await?;
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
            items.finish()
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
            let all = self.dependent.secondaries(primary, context).await?;
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
        async move { Ok(found(self.dependent.secondaries(primary, context).await?).collect()) }.boxed()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::READ_ONLY;
        if self.create.is_some() {
            capabilities = capabilities.creates();
        }
        if self.update.is_some() {
            capabilities = capabilities.updates();
        }
        if self.delete.is_some() {
            capabilities = capabilities.deletes();
        }
        capabilities
    }

    fn event_sources(&self) -> Vec<DependentSource> {
        self.dependent.event_sources()
    }

    fn access(&self) -> Vec<Access> {
        Vec::new()
    }
}
