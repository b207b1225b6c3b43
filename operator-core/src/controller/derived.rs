//! What the output of the derive macros calls. Not for users: it may change with any version.

use std::marker::PhantomData;

use kube::CustomResourceExt;

use super::{Controller, ControllerBuilder, NoReconciler};
use crate::{
    reconciler::{Cleaner, Reconciler},
    resource::KubeObject,
    workflow::{BuildError, Workflow},
};

/// Determines what a type is, which a bound can't express: a [`Cleaner`] or another [`Reconciler`] of primaries of type
/// `P`, one of other primaries, or none at all. The compiler takes the first method `builder` that exists, and each is
/// one reference further from `&&&&Probe`. Works only if the type is known.
#[derive(Debug)]
pub struct Probe<R, P>(PhantomData<fn(R, P)>);

impl<R, P> Probe<R, P> {
    /// A question about `R`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "nobody needs it")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Starts the builder of a controller from a declared value, if that is of the right type.
pub trait Start<R> {
    /// With the reconciler, or without.
    type Builder;

    /// Starts it.
    fn builder(&self, declared: R) -> Self::Builder;
}

impl<P: KubeObject<DynamicType: Default>, R: Cleaner + Reconciler<Primary = P>> Start<R> for &&&Probe<R, P> {
    type Builder = ControllerBuilder<R>;

    fn builder(&self, reconciler: R) -> ControllerBuilder<R> {
        Controller::builder(reconciler).with_cleaner()
    }
}

impl<P: KubeObject<DynamicType: Default>, R: Reconciler<Primary = P>> Start<R> for &&Probe<R, P> {
    type Builder = ControllerBuilder<R>;

    fn builder(&self, reconciler: R) -> ControllerBuilder<R> {
        Controller::builder(reconciler)
    }
}

/// For a reconciler of other primaries: a compile error with that message.
pub trait StartOther<R: Reconciler, P> {
    /// Never compiles for such a reconciler.
    fn builder(&self, reconciler: R) -> ControllerBuilder<NoReconciler<P>>
    where
        P: KubeObject<DynamicType: Default>,
        R: Reconciler<Primary = P>;
}

impl<R: Reconciler, P> StartOther<R, P> for &Probe<R, P> {
    fn builder(&self, _: R) -> ControllerBuilder<NoReconciler<P>>
    where
        P: KubeObject<DynamicType: Default>,
        R: Reconciler<Primary = P>,
    {
        Controller::of_existing()
    }
}

impl<R, P: KubeObject<DynamicType: Default>> Start<R> for Probe<R, P> {
    type Builder = ControllerBuilder<NoReconciler<P>>;

    fn builder(&self, _: R) -> ControllerBuilder<NoReconciler<P>> {
        Controller::of_existing()
    }
}

/// Determines whether a type of primaries includes the definition of its kind. As with [`Probe`], the first existing
/// method counts: the one nearest to `&&Defines`.
#[derive(Debug)]
pub struct Defines<P>(PhantomData<fn(P)>);

impl<P> Defines<P> {
    /// A question about `P`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "nobody needs it")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// One that does.
pub trait Defined {
    /// Gives the builder the definition.
    fn define<R: Reconciler>(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R>;
}

impl<P: CustomResourceExt> Defined for &Defines<P> {
    fn define<R: Reconciler>(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R> {
        builder.defined_by(P::crd)
    }
}

/// One that doesn't.
pub trait Undefined {
    /// Leaves the builder as it is.
    fn define<R: Reconciler>(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R>;
}

impl<P> Undefined for Defines<P> {
    fn define<R: Reconciler>(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R> {
        builder
    }
}

/// Gives the builder the workflow that is declared.
pub fn with_workflow<R: Reconciler>(
    builder: ControllerBuilder<R>,
    workflow: Result<Option<Workflow<R::Primary>>, BuildError>,
) -> ControllerBuilder<R> {
    match workflow.transpose() {
        Some(workflow) => builder.workflow(workflow),
        None => builder,
    }
}

/// Compiles only if `primary = …` names the primary of the reconciler.
pub const fn has_primary<R: Reconciler<Primary = P>, P>() {}

/// Applies the user's closure last; with the direct bound the closure needs no types.
pub fn configured<B>(builder: B, change: impl FnOnce(B) -> B) -> B {
    change(builder)
}
