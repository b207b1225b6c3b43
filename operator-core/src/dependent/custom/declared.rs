//! The declaration of a dependent by what its type can do.

use std::{fmt, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{Creator, Deleter, DependentResource, ExplicitState, Updater, default_name};
use crate::{
    dependent::{
        Dependent, Engine, IntoDependent,
        external::{Memory, ensure_state},
    },
    reconciler::{BoxError, Context, workflow::Secondary},
    resource::KubeObject,
};

pub(super) type ResourceOf<D, P> = <D as DependentResource<P>>::Resource;
pub(super) type Answer<'r, T> = BoxFuture<'r, Result<T, BoxError>>;
pub(super) type Desire<D, P> = fn(&D, &P, &Context<P>) -> Result<ResourceOf<D, P>, BoxError>;
pub(super) type Matches<D, P> = fn(&D, &ResourceOf<D, P>, &ResourceOf<D, P>, &P, &Context<P>) -> bool;
pub(super) type Create<D, P> =
    for<'r> fn(&'r D, ResourceOf<D, P>, &'r Arc<P>, &'r Context<P>) -> Answer<'r, Arc<ResourceOf<D, P>>>;
pub(super) type Update<D, P> = for<'r> fn(
    &'r D,
    &'r Arc<ResourceOf<D, P>>,
    ResourceOf<D, P>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Arc<ResourceOf<D, P>>>;
pub(super) type Delete<D, P> =
    for<'r> fn(&'r D, &'r Arc<ResourceOf<D, P>>, &'r Arc<P>, &'r Context<P>) -> Answer<'r, ()>;

/// The calls of a [`Creator`].
pub(super) struct Creates<D: DependentResource<P>, P: KubeObject> {
    pub(super) desired: Desire<D, P>,
    pub(super) create: Create<D, P>,
}

/// The calls of an [`Updater`].
pub(super) struct Updates<D: DependentResource<P>, P: KubeObject> {
    pub(super) desired: Desire<D, P>,
    pub(super) matches: Matches<D, P>,
    pub(super) update: Update<D, P>,
}

type OfState<D, P> = for<'r> fn(&'r D, &'r ResourceOf<D, P>, &'r Arc<P>, &'r Context<P>) -> Answer<'r, ()>;

/// The writes of an [`ExplicitState`].
pub(super) struct KeepsState<D: DependentResource<P>, P: KubeObject> {
    /// Creates it where it is missing.
    pub(super) ensure: OfState<D, P>,
    pub(super) delete: OfState<D, P>,
}

/// Declares a [`DependentResource`] with what it can do.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct CustomDependent<D: DependentResource<P>, P: KubeObject> {
    pub(super) name: Arc<str>,
    pub(super) dependent: D,
    pub(super) create: Option<Creates<D, P>>,
    pub(super) update: Option<Updates<D, P>>,
    pub(super) delete: Option<Delete<D, P>>,
    pub(super) state: Option<KeepsState<D, P>>,
    pub(super) memory: Memory,
}

impl<D: DependentResource<P>, P: KubeObject> CustomDependent<D, P> {
    /// Only reads, until told otherwise.
    pub fn new(dependent: D) -> Self {
        Self {
            name: default_name::<D>(),
            dependent,
            create: None,
            update: None,
            delete: None,
            state: None,
            memory: Memory::default(),
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
        D: Creator<P>,
    {
        self.create = Some(Creates {
            desired: D::desired,
            create: |dependent, desired, primary, context| {
                dependent.create(desired, primary, context).boxed()
            },
        });
        self
    }

    /// Changes what is not as desired.
    pub fn updates(mut self) -> Self
    where
        D: Updater<P>,
    {
        self.update = Some(Updates {
            desired: D::desired,
            matches: D::matches,
            update: |dependent, actual, desired, primary, context| {
                dependent.update(actual, desired, primary, context).boxed()
            },
        });
        self
    }

    /// Deletes what is not wanted any more.
    pub fn deletes(mut self) -> Self
    where
        D: Deleter<P>,
    {
        self.delete =
            Some(|dependent, actual, primary, context| dependent.delete(actual, primary, context).boxed());
        self
    }

    /// Keeps the id of what it creates in an object in the cluster.
    pub fn keeps_state(mut self) -> Self
    where
        D: ExplicitState<P>,
    {
        self.state = Some(KeepsState {
            ensure: |dependent, resource, primary, context| {
                async move { ensure_state(&dependent.state(resource, primary, context)?, context).await }
                    .boxed()
            },
            delete: |dependent, resource, primary, context| {
                async move {
                    let state = dependent.state(resource, primary, context)?;
                    Ok(context.resource_operations().delete(&state).await?)
                }
                .boxed()
            },
        });
        self
    }

    /// The resource is read from the caching event source of that name outside the cluster, so that the source is asked to
    /// fetch what it doesn't know yet of a primary, and is told what was written.
    pub fn remembered_by(mut self, event_source: impl Into<Arc<str>>) -> Self {
        self.memory.source = Some(event_source.into());
        self
    }

    pub(super) fn secondary_of(&self, resource: Arc<D::Resource>) -> Secondary {
        let id = self.dependent.id(&resource);
        Secondary::external(resource, id)
    }
}

impl<D: DependentResource<P>, P: KubeObject> IntoDependent<P> for CustomDependent<D, P> {
    fn into_dependent(self) -> Dependent<P> {
        Dependent::new(Arc::clone(&self.name), self)
    }
}

impl<D: DependentResource<P>, P: KubeObject> fmt::Debug for CustomDependent<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomDependent")
            .field("name", &self.name)
            .field("capabilities", &Engine::capabilities(self))
            .finish_non_exhaustive()
    }
}
