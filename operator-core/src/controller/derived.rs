//! The functions that the output of the derive macros calls. Not for users: it may change with any version.

use std::marker::PhantomData;

use kube::CustomResourceExt;

use super::{ControllerBuilder, NoReconciler};
use crate::{
    reconciler::Reconciler,
    resource::KubeObject,
    workflow::{BuildError, Workflow},
};

/// Determines what a type is, which a bound can't express: a [`Reconciler`] of primaries of type `P`, one of other
/// primaries, or none at all. The compiler takes the first method `give` that exists, and each is one reference further
/// from `&&&Probe`. Works only if the type is known.
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

/// Gives the builder the declared value as its reconciler, if it is one. The settings come before, so that their
/// expressions can use the value.
pub trait Given<R, P: KubeObject> {
    /// With the reconciler, or without.
    type Builder;

    /// Gives it.
    fn give(&self, builder: ControllerBuilder<NoReconciler<P>>, declared: R) -> Self::Builder;
}

impl<P: KubeObject, R: Reconciler<Primary = P>> Given<R, P> for &&Probe<R, P> {
    type Builder = ControllerBuilder<R>;

    fn give(&self, builder: ControllerBuilder<NoReconciler<P>>, reconciler: R) -> ControllerBuilder<R> {
        reconciled(builder, reconciler)
    }
}

/// For a reconciler of other primaries: a compile error with that message.
pub trait GivenOther<R: Reconciler, P> {
    /// Never compiles for such a reconciler.
    fn give(
        &self,
        builder: ControllerBuilder<NoReconciler<P>>,
        reconciler: R,
    ) -> ControllerBuilder<NoReconciler<P>>
    where
        P: KubeObject,
        R: Reconciler<Primary = P>;
}

impl<R: Reconciler, P> GivenOther<R, P> for &Probe<R, P> {
    fn give(&self, builder: ControllerBuilder<NoReconciler<P>>, _: R) -> ControllerBuilder<NoReconciler<P>>
    where
        P: KubeObject,
        R: Reconciler<Primary = P>,
    {
        builder
    }
}

impl<R, P: KubeObject> Given<R, P> for Probe<R, P> {
    type Builder = ControllerBuilder<NoReconciler<P>>;

    fn give(&self, builder: ControllerBuilder<NoReconciler<P>>, _: R) -> Self::Builder {
        builder
    }
}

/// Gives the builder its reconciler; the controller gets the reconciler's name unless it has another.
pub fn reconciled<P: KubeObject, R: Reconciler<Primary = P>>(
    builder: ControllerBuilder<NoReconciler<P>>,
    reconciler: R,
) -> ControllerBuilder<R> {
    builder.reconciler(reconciler).called_like_its_type()
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

/// A type that does.
pub trait Defined {
    /// Gives the builder the definition.
    fn define<R: Reconciler>(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R>;
}

impl<P: CustomResourceExt> Defined for &Defines<P> {
    fn define<R: Reconciler>(&self, builder: ControllerBuilder<R>) -> ControllerBuilder<R> {
        builder.defined_by(P::crd)
    }
}

/// A type that doesn't.
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

/// Applies the user's closure last; with the direct bound the closure needs no types.
pub fn configured<B>(builder: B, change: impl FnOnce(B) -> B) -> B {
    change(builder)
}
