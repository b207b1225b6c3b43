//! What the output of the derive macros calls. Not for users: it may change with any version.

use std::marker::PhantomData;

use super::{Controller, ControllerBuilder, configuration::ControllerConfiguration};
use crate::{
    dependent::Desired,
    reconciler::{Cleaner, Reconciler},
    resource::KubeObject,
};

/// Finds out whether a type is a [`Cleaner`], which a bound can't ask: where it is, the method of [`MaybeCleaner`] is found
/// first, and otherwise that of [`NoCleaner`], one reference further. Works only where the type is known.
#[derive(Debug)]
pub struct Probe<R>(PhantomData<R>);

impl<R> Probe<R> {
    /// A question about `R`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "nobody needs it")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// What a [`Cleaner`] gets.
pub trait MaybeCleaner<R: Reconciler> {
    /// Declares the cleaner.
    fn with_cleaner(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R>;
}

impl<R: Cleaner> MaybeCleaner<R> for Probe<R> {
    fn with_cleaner(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R> {
        builder.with_cleaner()
    }
}

/// What everything else gets.
pub trait NoCleaner<R: Reconciler> {
    /// Declares nothing.
    fn with_cleaner(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R>;
}

impl<R: Reconciler> NoCleaner<R> for &Probe<R> {
    fn with_cleaner(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R> {
        builder
    }
}

/// Declares the workflow that stands at the reconciler.
pub fn with_workflow<R>(reconciler: R) -> ControllerBuilder<R>
where
    R: ControllerConfiguration,
    <R::Primary as kube::Resource>::DynamicType: Default,
{
    let workflow = reconciler.workflow().transpose();
    let builder = Controller::builder(reconciler);
    match workflow {
        Some(workflow) => builder.workflow(workflow),
        None => builder,
    }
}

/// Compiles only where `primary = …` says what the reconciler says.
pub const fn has_primary<R: Reconciler<Primary = P>, P>() {}

/// Compiles only where `resource = …` says what `Desired` says.
pub const fn has_resource<D: Desired<P, Resource = K>, P: KubeObject, K: KubeObject>() {}

/// Builds a dependent from its reconciler; the direct bound lets the closure do without types.
pub fn built<R, D>(reconciler: &R, build: impl FnOnce(&R) -> D) -> D {
    build(reconciler)
}

/// Gives the user the last word; the direct bound lets the closure do without types.
pub fn configured<B>(builder: B, change: impl FnOnce(B) -> B) -> B {
    change(builder)
}
