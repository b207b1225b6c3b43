//! The declaration of a bulk dependent of the user's own.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{BulkCreator, BulkDeleter, BulkDependentResource, BulkExplicitState, BulkUpdater};
use crate::{
    dependent::{
        Dependent, Engine, IntoDependent,
        custom::default_name,
        external::{Memory, ensure_state},
    },
    reconciler::{BoxError, Context, MemoKey},
    resource::KubeObject,
};

type ResourceOf<D, P> = <D as BulkDependentResource<P>>::Resource;
type KeyOf<D, P> = <D as BulkDependentResource<P>>::Key;
type Desired<D, P> = BTreeMap<KeyOf<D, P>, ResourceOf<D, P>>;
pub(super) type Actual<D, P> = BTreeMap<KeyOf<D, P>, Arc<ResourceOf<D, P>>>;
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
pub(super) type Delete<D, P> = for<'r> fn(
    &'r D,
    &'r KeyOf<D, P>,
    &'r Arc<ResourceOf<D, P>>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, ()>;

type OfState<D, P> =
    for<'r> fn(&'r D, &'r KeyOf<D, P>, &'r ResourceOf<D, P>, &'r Arc<P>, &'r Context<P>) -> Answer<'r, ()>;

/// The writes of a [`BulkExplicitState`].
pub(super) struct KeepsState<D: BulkDependentResource<P>, P: KubeObject> {
    /// Creates it where it is missing.
    pub(super) ensure: OfState<D, P>,
    pub(super) delete: OfState<D, P>,
}

/// Declares a [`BulkDependentResource`] with what it can do.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct BulkCustomDependent<D: BulkDependentResource<P>, P: KubeObject> {
    pub(super) name: Arc<str>,
    pub(super) dependent: D,
    pub(super) desired: Option<Desire<D, P>>,
    pub(super) create: Option<Create<D, P>>,
    pub(super) update: Option<(Matches<D, P>, Update<D, P>)>,
    pub(super) delete: Option<Delete<D, P>>,
    pub(super) state: Option<KeepsState<D, P>>,
    pub(super) memory: Memory,
    pub(super) memo: MemoKey,
}

impl<D: BulkDependentResource<P>, P: KubeObject> BulkCustomDependent<D, P> {
    /// Only reads, until told otherwise.
    pub fn new(dependent: D) -> Self {
        Self {
            name: default_name::<D>(),
            dependent,
            desired: None,
            create: None,
            update: None,
            delete: None,
            state: None,
            memory: Memory::default(),
            memo: MemoKey::default(),
        }
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

    /// Keeps the id of each resource that it creates in an object in the cluster.
    pub fn keeps_state(mut self) -> Self
    where
        D: BulkExplicitState<P>,
    {
        self.state = Some(KeepsState {
            ensure: |dependent, key, resource, primary, context| {
                async move { ensure_state(&dependent.state(key, resource, primary, context)?, context).await }
                    .boxed()
            },
            delete: |dependent, key, resource, primary, context| {
                async move {
                    let state = dependent.state(key, resource, primary, context)?;
                    Ok(context.resource_operations().delete(&state).await?)
                }
                .boxed()
            },
        });
        self
    }

    /// The resources are read from the caching event source of that name outside the cluster, so that the source is asked to
    /// fetch what it doesn't know yet of a primary, and is told what was written.
    pub fn remembered_by(mut self, event_source: impl Into<Arc<str>>) -> Self {
        self.memory.source = Some(event_source.into());
        self
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
