//! The declaration of a bulk dependent of the user's own, and what the engine asks of it.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{BulkCreator, BulkDeleter, BulkDependentResource, BulkUpdater, Items, Work};
use crate::{
    dependent::{Capabilities, Dependent, DependentSource, Engine, IntoDependent, custom::default_name},
    event_source::Access,
    reconciler::{
        BoxError, Context, MemoKey,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::KubeObject,
};

type ResourceOf<D, P> = <D as BulkDependentResource<P>>::Resource;
type KeyOf<D, P> = <D as BulkDependentResource<P>>::Key;
type Desired<D, P> = BTreeMap<KeyOf<D, P>, ResourceOf<D, P>>;
type Actual<D, P> = BTreeMap<KeyOf<D, P>, Arc<ResourceOf<D, P>>>;
type Answer<'r, T> = BoxFuture<'r, Result<T, BoxError>>;

type Desire<D, P> = fn(&D, &P, &Context<P>) -> Result<Desired<D, P>, BoxError>;
type Create<D, P> = for<'r> fn(
    &'r D,
    &'r KeyOf<D, P>,
    &'r ResourceOf<D, P>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Arc<ResourceOf<D, P>>>;
type Matches<D, P> = fn(&D, &ResourceOf<D, P>, &ResourceOf<D, P>, &P, &Context<P>) -> bool;
type Update<D, P> = for<'r> fn(
    &'r D,
    &'r KeyOf<D, P>,
    &'r Arc<ResourceOf<D, P>>,
    &'r ResourceOf<D, P>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Arc<ResourceOf<D, P>>>;
type Delete<D, P> = for<'r> fn(
    &'r D,
    &'r KeyOf<D, P>,
    &'r Arc<ResourceOf<D, P>>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, ()>;

/// Declares a [`BulkDependentResource`] with what it can do.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct BulkCustomDependent<D: BulkDependentResource<P>, P: KubeObject> {
    name: Arc<str>,
    dependent: D,
    desired: Option<Desire<D, P>>,
    create: Option<Create<D, P>>,
    update: Option<(Matches<D, P>, Update<D, P>)>,
    delete: Option<Delete<D, P>>,
    memo: MemoKey,
}

impl<D: BulkDependentResource<P>, P: KubeObject> BulkCustomDependent<D, P> {
    /// Only reads, until told otherwise.
    pub fn new(dependent: D) -> Self {
        let (name, memo) = (default_name::<D>(), MemoKey::default());
        Self { name, dependent, desired: None, create: None, update: None, delete: None, memo }
    }

    /// Names it; by default it is the last segment of the type's name.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Creates what is missing.
    pub fn creates(mut self) -> Self
    where
        D: BulkCreator<P>,
    {
        self.desired = Some(D::desired);
        self.create = Some(|dependent, key, desired, primary, context| {
            dependent.create(key, desired, primary, context).boxed()
        });
        self
    }

    /// Changes what is not as desired.
    pub fn updates(mut self) -> Self
    where
        D: BulkUpdater<P>,
    {
        self.desired = Some(D::desired);
        self.update = Some((D::matches, |dependent, key, actual, desired, primary, context| {
            dependent.update(key, actual, desired, primary, context).boxed()
        }));
        self
    }

    /// Deletes what is not desired any more, if it is known what is desired, and everything before the primary goes.
    pub fn deletes(mut self) -> Self
    where
        D: BulkDeleter<P>,
    {
        self.delete = Some(|dependent, key, actual, primary, context| {
            dependent.delete(key, actual, primary, context).boxed()
        });
        self
    }

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

impl<D: BulkDependentResource<P>, P: KubeObject> IntoDependent<P> for BulkCustomDependent<D, P> {
    fn into_dependent(self) -> Dependent<P> {
        Dependent::new(Arc::clone(&self.name), self)
    }
}

impl<D: BulkDependentResource<P>, P: KubeObject> fmt::Debug for BulkCustomDependent<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkCustomDependent")
            .field("name", &self.name)
            .field("capabilities", &Engine::capabilities(self))
            .finish_non_exhaustive()
    }
}
