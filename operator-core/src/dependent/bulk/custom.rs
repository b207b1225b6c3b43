//! Bulk dependents that know themselves how to read and write their resources.

use std::{collections::BTreeMap, fmt::Display, future::Future, sync::Arc};

use crate::{
    dependent::{Deletion, DependentSource},
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

/// Any number of things that should exist because a primary of type `P` does, wherever they are. JOSDK's
/// `BulkDependentResource`.
///
/// What it can do is said by further traits, [`BulkCreator`], [`BulkUpdater`] and [`BulkDeleter`], and by the calls that name
/// them: `BulkCustomDependent::new(Schemas).creates().updates().deletes()`. Without one it only reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bulk dependent resource of `{P}`",
    note = "implement `operator_core::dependent::bulk::BulkDependentResource<{P}>` for it; objects in the cluster are what a function `fn(&{P}) -> Vec<K>` answers"
)]
pub trait BulkDependentResource<P: KubeObject>: Send + Sync + 'static {
    /// What is managed.
    type Resource: Send + Sync + 'static;
    /// Distinguishes the resources of one primary.
    type Key: Ord + Clone + Display + Send + Sync + 'static;

    /// What is there now for this primary. Called once at the start of each reconcile. JOSDK's `getSecondaryResources`.
    ///
    /// # Errors
    /// When it can't be told; the node fails then.
    fn secondaries(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<BTreeMap<Self::Key, Arc<Self::Resource>>, BoxError>> + Send;

    /// The event sources that it reads from and that wake its primaries. By default none.
    fn event_sources(&self) -> Vec<DependentSource> {
        Vec::new()
    }
}

/// Creates what is missing. JOSDK's `CRUDBulkDependentResource` without the rest.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't create",
    note = "implement `BulkCreator<{P}>`, or leave out `.creates()`"
)]
pub trait BulkCreator<P: KubeObject>: BulkDependentResource<P> {
    /// What should be there: a function of its arguments, without side effects. JOSDK's `desiredResources`.
    ///
    /// # Errors
    /// When it can't be told yet; the node fails then, and nothing is deleted.
    fn desired(
        &self,
        primary: &P,
        context: &Context<P>,
    ) -> Result<BTreeMap<Self::Key, Self::Resource>, BoxError>;

    /// Creates one, and answers with what is there now.
    ///
    /// # Errors
    /// When it can't be created, or nobody knows whether it was: then `secondaries` is asked again before the next attempt.
    fn create(
        &self,
        key: &Self::Key,
        desired: &Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Keeps what is needed to find each resource again in an object in the cluster of its own: the id that the other system gave
/// it, say. JOSDK's `BulkDependentResource` with explicit state.
///
/// The object is created right after the resource, and deleted right after it. A crash between the two creates leaks a
/// resource that nobody knows of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no state",
    note = "implement `BulkExplicitState<{P}>`, or leave out `.keeps_state()`"
)]
pub trait BulkExplicitState<P: KubeObject>: BulkCreator<P> {
    /// The type of the objects. The controller needs an event source for it.
    type State: KubeObject;

    /// The object that keeps `resource`, with its owner reference: a function of its arguments.
    ///
    /// # Errors
    /// When it can't be told.
    fn state(
        &self,
        key: &Self::Key,
        resource: &Self::Resource,
        primary: &P,
        context: &Context<P>,
    ) -> Result<Self::State, BoxError>;
}

/// Changes what is not as desired.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't update",
    note = "implement `BulkUpdater<{P}>`, or leave out `.updates()`"
)]
pub trait BulkUpdater<P: KubeObject>: BulkCreator<P> {
    /// Whether `actual` is as desired.
    fn matches(
        &self,
        actual: &Self::Resource,
        desired: &Self::Resource,
        primary: &P,
        context: &Context<P>,
    ) -> bool;

    /// Changes one, and answers with what is there now.
    ///
    /// # Errors
    /// When it can't be changed.
    fn update(
        &self,
        key: &Self::Key,
        actual: &Arc<Self::Resource>,
        desired: &Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Deletes what is not desired any more, and everything before the primary goes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't delete",
    note = "implement `BulkDeleter<{P}>`, or leave out `.deletes()`"
)]
pub trait BulkDeleter<P: KubeObject>: BulkDependentResource<P> {
    /// Deletes one, and says whether that is done. It may be gone already. JOSDK's `deleteTargetResource`.
    ///
    /// # Errors
    /// When it can't be deleted; it is tried again.
    fn delete(
        &self,
        key: &Self::Key,
        actual: &Arc<Self::Resource>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Deletion, BoxError>> + Send;
}
