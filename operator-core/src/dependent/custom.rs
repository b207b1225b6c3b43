//! Dependents that know themselves how to read and write their resource.

use std::{any::type_name, fmt, future::Future, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{Capabilities, Dependent, DependentSource, Engine, IntoDependent};
use crate::{
    event_source::Access,
    reconciler::{
        BoxError, Context,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::KubeObject,
};

/// Something that should exist because a primary of type `P` does, wherever it is. Answers to JOSDK's
/// `DependentResource`.
///
/// What it can do is said by further traits, [`Creator`], [`Updater`] and [`Deleter`], and by the calls that name them:
/// `CustomDependent::new(Schema).creates().updates().deletes()`. Without one it only reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dependent resource of `{P}`",
    note = "implement `operator_core::dependent::DependentResource<{P}>` for it; for an object in the cluster, implement `Desired<{P}>` and use `KubernetesDependent`"
)]
pub trait DependentResource<P: KubeObject>: Send + Sync + 'static {
    /// What is managed.
    type Resource: Send + Sync + 'static;

    /// What is there now for this primary. Called once at the start of each reconcile.
    ///
    /// # Errors
    /// When it can't be told; the node fails then.
    fn secondary(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Option<Arc<Self::Resource>>, BoxError>> + Send;

    /// The event sources that it reads from and that wake its primaries. By default none.
    fn event_sources(&self) -> Vec<DependentSource> {
        Vec::new()
    }

    /// What tells a resource apart from others of the same dependent, in logs and results.
    fn id(&self, resource: &Self::Resource) -> String {
        let _ = resource;
        String::new()
    }
}

/// Creates what is missing. Answers to JOSDK's `Creator`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't create",
    note = "implement `Creator<{P}>`, or leave out `.creates()`"
)]
pub trait Creator<P: KubeObject>: DependentResource<P> {
    /// What should be there: a function of its arguments, without side effects.
    ///
    /// # Errors
    /// When it can't be told yet; the node fails then.
    fn desired(&self, primary: &P, context: &Context<P>) -> Result<Self::Resource, BoxError>;

    /// Creates it, and answers with what is there now.
    ///
    /// # Errors
    /// When it can't be created, or nobody knows whether it was: then `secondary` is asked again before the next attempt.
    fn create(
        &self,
        desired: Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Changes what is not as desired. Answers to JOSDK's `Updater`, with its matcher.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't update",
    note = "implement `Updater<{P}>`, or leave out `.updates()`"
)]
pub trait Updater<P: KubeObject>: Creator<P> {
    /// Whether `actual` is as desired.
    fn matches(
        &self,
        actual: &Self::Resource,
        desired: &Self::Resource,
        primary: &P,
        context: &Context<P>,
    ) -> bool;

    /// Changes it, and answers with what is there now.
    ///
    /// # Errors
    /// When it can't be changed.
    fn update(
        &self,
        actual: &Arc<Self::Resource>,
        desired: Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Deletes what is not wanted any more, and before its primary goes. Answers to JOSDK's `Deleter`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't delete",
    note = "implement `Deleter<{P}>`, or leave out `.deletes()`"
)]
pub trait Deleter<P: KubeObject>: DependentResource<P> {
    /// Deletes it. It may be gone already.
    ///
    /// # Errors
    /// When it can't be deleted; it is tried again.
    fn delete(
        &self,
        actual: &Arc<Self::Resource>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;
}

type ResourceOf<D, P> = <D as DependentResource<P>>::Resource;
type Answer<'r, T> = BoxFuture<'r, Result<T, BoxError>>;
type Desire<D, P> = fn(&D, &P, &Context<P>) -> Result<ResourceOf<D, P>, BoxError>;
type Matches<D, P> = fn(&D, &ResourceOf<D, P>, &ResourceOf<D, P>, &P, &Context<P>) -> bool;
type Create<D, P> =
    for<'r> fn(&'r D, ResourceOf<D, P>, &'r Arc<P>, &'r Context<P>) -> Answer<'r, Arc<ResourceOf<D, P>>>;
type Update<D, P> = for<'r> fn(
    &'r D,
    &'r Arc<ResourceOf<D, P>>,
    ResourceOf<D, P>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Arc<ResourceOf<D, P>>>;
type Delete<D, P> =
    for<'r> fn(&'r D, &'r Arc<ResourceOf<D, P>>, &'r Arc<P>, &'r Context<P>) -> Answer<'r, ()>;

/// The calls of a [`Creator`].
struct Creates<D: DependentResource<P>, P: KubeObject> {
    desired: Desire<D, P>,
    create: Create<D, P>,
}

/// The calls of an [`Updater`].
struct Updates<D: DependentResource<P>, P: KubeObject> {
    desired: Desire<D, P>,
    matches: Matches<D, P>,
    update: Update<D, P>,
}

/// Declares a [`DependentResource`] with what it can do.
#[must_use = "a dependent does nothing until it is given to a workflow"]
pub struct CustomDependent<D: DependentResource<P>, P: KubeObject> {
    name: Arc<str>,
    dependent: D,
    create: Option<Creates<D, P>>,
    update: Option<Updates<D, P>>,
    delete: Option<Delete<D, P>>,
}

impl<D: DependentResource<P>, P: KubeObject> CustomDependent<D, P> {
    /// Only reads, until told otherwise.
    pub fn new(dependent: D) -> Self {
        Self { name: default_name::<D>(), dependent, create: None, update: None, delete: None }
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

    fn secondary_of(&self, resource: Arc<D::Resource>) -> Secondary {
        let id = self.dependent.id(&resource);
        Secondary::external(resource, id)
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
            let Some(actual) = dependent.secondary(primary, context).await? else {
                let Some(creates) = &self.create else { return Ok(ReconcileResult::nothing()) };
                let desired = (creates.desired)(dependent, primary, context)?;
                let created = (creates.create)(dependent, desired, primary, context).await?;
                return Ok(ReconcileResult::of(Operation::Created, self.secondary_of(created)));
            };
            let Some(update) = &self.update else {
                return Ok(ReconcileResult::of(Operation::Matched, self.secondary_of(actual)));
            };
            let desired = (update.desired)(dependent, primary, context)?;
            if (update.matches)(dependent, &actual, &desired, primary, context) {
                return Ok(ReconcileResult::of(Operation::Matched, self.secondary_of(actual)));
            }
            let updated = (update.update)(dependent, &actual, desired, primary, context).await?;
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
            match self.dependent.secondary(primary, context).await? {
                Some(actual) => delete(&self.dependent, &actual, primary, context).await,
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
            let actual = self.dependent.secondary(primary, context).await?;
            Ok(actual.map(|actual| self.secondary_of(actual)).into_iter().collect())
        }
        .boxed()
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

/// The last segment of a type's name, without its parameters.
pub(super) fn default_name<T>() -> Arc<str> {
    let name = type_name::<T>();
    let name = name.split('<').next().unwrap_or(name);
    Arc::from(name.rsplit("::").next().unwrap_or(name))
}
