//! Bulk dependents that read and write their resources themselves.

use std::{collections::BTreeMap, fmt::Display, future::Future, sync::Arc};

use crate::{
    dependent::{Deletion, DependentSource},
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

/// Any number of things that should exist because a primary of type `P` does, wherever they are. JOSDK's
/// `BulkDependentResource`.
///
/// Further traits, [`BulkCreator`], [`BulkUpdater`] and [`BulkDeleter`], define what else it can do, and a call for
/// each enables it: `BulkCustomDependent::new(Schemas).creates().updates().deletes()`. Without any of them it only
/// reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bulk dependent resource of `{P}`",
    note = "implement `operator_core::dependent::bulk::BulkDependentResource<{P}>` for it; objects in the cluster are what a function `fn(&{P}) -> Vec<K>` returns"
)]
pub trait BulkDependentResource<P: KubeObject>: Send + Sync + 'static {
    /// What is managed.
    type Resource: Send + Sync + 'static;
    /// Distinguishes the resources of one primary.
    type Key: Ord + Clone + Display + Send + Sync + 'static;

    /// The resources that exist now for this primary. Called once at the start of each reconcile. JOSDK's
    /// `getSecondaryResources`.
    ///
    /// # Errors
    /// If it can't be determined; then the node fails.
    fn secondaries(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<BTreeMap<Self::Key, Arc<Self::Resource>>, BoxError>> + Send;

    /// The event sources that it reads from and that trigger its primaries. By default none.
    #[doc(hidden)]
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
    /// What should exist: a function of its arguments, without side effects. JOSDK's `desiredResources`.
    ///
    /// # Errors
    /// If it can't be determined yet; then the node fails, and nothing is deleted.
    fn desired(
        &self,
        primary: &P,
        context: &Context<P>,
    ) -> Result<BTreeMap<Self::Key, Self::Resource>, BoxError>;

    /// Creates one, and returns what exists now.
    ///
    /// # Errors
    /// If it can't be created, or it is unknown whether it was: then `secondaries` is called again before the next
    /// attempt.
    fn create(
        &self,
        key: &Self::Key,
        desired: &Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Keeps what is needed to find each resource again, such as the id that the other system gave it, in an object of its
/// own in the cluster. JOSDK's `BulkDependentResource` with explicit state.
///
/// The object is created right after the resource, and deleted right after it. A crash between the two creates leaks a
/// resource that nothing refers to.
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
    /// If it can't be determined.
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

    /// Changes one, and returns what exists now.
    ///
    /// # Errors
    /// If it can't be changed.
    fn update(
        &self,
        key: &Self::Key,
        actual: &Arc<Self::Resource>,
        desired: &Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Deletes what is no longer desired, and everything before the primary is removed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't delete",
    note = "implement `BulkDeleter<{P}>`, or leave out `.deletes()`"
)]
pub trait BulkDeleter<P: KubeObject>: BulkDependentResource<P> {
    /// Deletes one, and returns whether that is done. It may be gone already. JOSDK's `deleteTargetResource`.
    ///
    /// # Errors
    /// If it can't be deleted; this is retried.
    fn delete(
        &self,
        key: &Self::Key,
        actual: &Arc<Self::Resource>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Deletion, BoxError>> + Send;
}
