//! Dependents that read and write their resource themselves. To the engine each of them is a bulk dependent with one
//! key.
//!
//! # Assumptions
//! - Creates in the other system may be repeated if the process died between the create and the write that keeps its
//!   id: then nothing shows that it was created. Make them idempotent wherever possible, with an id that follows from
//!   the primary.

mod declared;

use std::{any::type_name, future::Future, sync::Arc};

use super::DependentSource;
use crate::{
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

pub use declared::CustomDependent;

/// Something that should exist because a primary of type `P` does, wherever it is. JOSDK's
/// `DependentResource`.
///
/// Further traits, [`Creator`], [`Updater`] and [`Deleter`], define what else it can do, and a call for each enables
/// it: `CustomDependent::new(Schema).creates().updates().deletes()`. Without any of them it only reads.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dependent resource of `{P}`",
    note = "implement `operator_core::dependent::DependentResource<{P}>` for it; an object in the cluster is what a function of `&{P}` returns"
)]
pub trait DependentResource<P: KubeObject>: Send + Sync + 'static {
    /// What is managed.
    type Resource: Send + Sync + 'static;

    /// The resource that exists now for this primary. Called once at the start of each reconcile.
    ///
    /// # Errors
    /// If it can't be determined; then the node fails.
    fn secondary(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Option<Arc<Self::Resource>>, BoxError>> + Send;

    /// The event sources that it reads from and that trigger its primaries. By default none.
    #[doc(hidden)]
    fn event_sources(&self) -> Vec<DependentSource> {
        Vec::new()
    }

    /// Distinguishes a resource from others of the same dependent, in logs and results.
    fn id(&self, resource: &Self::Resource) -> String {
        let _ = resource;
        String::new()
    }
}

/// Creates what is missing. JOSDK's `Creator`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't create",
    note = "implement `Creator<{P}>`, or leave out `.creates()`"
)]
pub trait Creator<P: KubeObject>: DependentResource<P> {
    /// What should exist: a function of its arguments, without side effects.
    ///
    /// # Errors
    /// If it can't be determined yet; then the node fails.
    fn desired(&self, primary: &P, context: &Context<P>) -> Result<Self::Resource, BoxError>;

    /// Creates it, and returns what exists now.
    ///
    /// # Errors
    /// If it can't be created, or it is unknown whether it was: then `secondary` is called again before the next
    /// attempt.
    fn create(
        &self,
        desired: Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// Keeps what is needed to find a resource again, such as the id that the other system gave it, in an object in the
/// cluster. JOSDK's `DependentResourceWithExplicitState`.
///
/// The object is created right after the resource. It is deleted after the resource, so that nothing that still exists
/// is forgotten. A crash between the two creates leaks a resource that nothing refers to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no state",
    note = "implement `ExplicitState<{P}>`, or leave out `.keeps_state()`"
)]
pub trait ExplicitState<P: KubeObject>: Creator<P> {
    /// The type of the object. The controller needs an event source for it.
    type State: KubeObject;

    /// The object that keeps `resource`, with its owner reference: a function of its arguments.
    ///
    /// # Errors
    /// If it can't be determined.
    fn state(
        &self,
        resource: &Self::Resource,
        primary: &P,
        context: &Context<P>,
    ) -> Result<Self::State, BoxError>;
}

/// Changes a resource that is not as desired. JOSDK's `Updater`, with its matcher.
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

    /// Changes it, and returns what exists now.
    ///
    /// # Errors
    /// If it can't be changed.
    fn update(
        &self,
        actual: &Arc<Self::Resource>,
        desired: Self::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Arc<Self::Resource>, BoxError>> + Send;
}

/// How far a deletion has progressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "what is only asked for still exists"]
pub enum Deletion {
    /// Nothing of it is left.
    Gone,
    /// The deletion was requested, and takes time: until the resource is gone it counts as existing, and what it
    /// depends on stays, including its primary's finalizer.
    ///
    /// Each run that still finds the resource requests the deletion again. Such runs come with the events of the source
    /// that caches it, and at the latest after ten seconds.
    Asked,
}

/// Deletes a resource that is no longer wanted, and before its primary is removed. JOSDK's `Deleter`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't delete",
    note = "implement `Deleter<{P}>`, or leave out `.deletes()`"
)]
pub trait Deleter<P: KubeObject>: DependentResource<P> {
    /// Deletes it, and returns whether that is done. It may be gone already.
    ///
    /// # Errors
    /// If it can't be deleted; this is retried.
    fn delete(
        &self,
        actual: &Arc<Self::Resource>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Deletion, BoxError>> + Send;
}

/// The last segment of a type's name, without its parameters.
pub(super) fn default_name<T>() -> Arc<str> {
    let name = type_name::<T>();
    let name = name.split('<').next().unwrap_or(name);
    Arc::from(name.rsplit("::").next().unwrap_or(name))
}
