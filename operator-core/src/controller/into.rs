//! The types that can be registered as a controller, and those that a controller accepts as its primary, reconciler,
//! retry and rate limiter.

use std::{any::Any, marker::PhantomData, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use super::{Controller, ControllerBuilder, Mistakes};
use crate::{
    processor::{Error, GenericRetry, RateLimiter, Retry},
    reconciler::{BoxError, Context, Reconciler, UpdateControl},
    resource::KubeObject,
    workflow::{self, Workflow},
};

/// The types that a controller accepts as a retry: a [`Retry`], or the result of making one. Its mistakes are reported
/// with all others of the controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a retry",
    note = "give a `GenericRetry`, or implement `operator_core::processor::Retry`"
)]
pub trait IntoRetry {
    /// The retry.
    ///
    /// # Errors
    /// If its settings can't work.
    fn into_retry(self) -> Result<Arc<dyn Retry>, Error>;

    /// The same, if it is the library's own.
    fn generic(&self) -> Option<GenericRetry>;
}

impl<R: Retry + 'static> IntoRetry for R {
    fn into_retry(self) -> Result<Arc<dyn Retry>, Error> {
        Ok(Arc::new(self))
    }

    fn generic(&self) -> Option<GenericRetry> {
        (self as &dyn Any).downcast_ref().copied()
    }
}

impl<R: Retry + 'static> IntoRetry for Result<R, Error> {
    fn into_retry(self) -> Result<Arc<dyn Retry>, Error> {
        Ok(Arc::new(self?))
    }

    fn generic(&self) -> Option<GenericRetry> {
        self.as_ref().ok().and_then(IntoRetry::generic)
    }
}

/// The types that a controller accepts as a rate limiter: a [`RateLimiter`], or the result of making one. Its mistakes
/// are reported with all others of the controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limiter",
    note = "give a `GovernorRateLimiter`, or implement `operator_core::processor::RateLimiter`"
)]
pub trait IntoRateLimiter {
    /// The rate limiter.
    ///
    /// # Errors
    /// If its settings can't work.
    fn into_rate_limiter(self) -> Result<Arc<dyn RateLimiter>, Error>;
}

impl<L: RateLimiter + 'static> IntoRateLimiter for L {
    fn into_rate_limiter(self) -> Result<Arc<dyn RateLimiter>, Error> {
        Ok(Arc::new(self))
    }
}

impl<L: RateLimiter + 'static> IntoRateLimiter for Result<L, Error> {
    fn into_rate_limiter(self) -> Result<Arc<dyn RateLimiter>, Error> {
        Ok(Arc::new(self?))
    }
}

/// The types that can be registered with an operator as a controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a controller",
    note = "register `Controller::builder(reconciler)`, finished or not, or add `#[derive(ControllerConfiguration)]` to the reconciler"
)]
pub trait IntoController {
    /// Finishes the declaration.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn into_controller(self) -> Result<Controller, Mistakes>;
}

impl IntoController for Controller {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        Ok(self)
    }
}

/// For functions that declare a controller and may fail.
impl<C: IntoController, E: Into<Mistakes>> IntoController for Result<C, E> {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        self.map_err(Into::into)?.into_controller()
    }
}

/// A type that can be registered with an operator directly, because it declares its controller: a reconciler, or a
/// struct whose controller needs none. JOSDK: annotations `@ControllerConfiguration` and `@Workflow`; derive it with
/// [`macro@crate::ControllerConfiguration`], or write by hand what the macro would.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not declare its controller",
    note = "add `#[derive(ControllerConfiguration)]` to it, or use `Controller::builder(reconciler)`"
)]
pub trait ControllerConfiguration: Sized {
    /// The type of the primaries: the reconciler's, if there is one.
    type Primary: KubeObject;

    /// The workflow that is declared for it, if there is one.
    ///
    /// # Errors
    /// If it contradicts itself.
    fn workflow(&self) -> Result<Option<Workflow<Self::Primary>>, workflow::BuildError> {
        Ok(None)
    }

    /// Its controller, to be registered or to be declared further.
    fn controller(self) -> ControllerBuilder<impl Reconciler<Primary = Self::Primary>>;
}

impl<C: ControllerConfiguration> IntoController for C {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        self.controller().build()
    }
}

/// A custom resource whose type has its definition, as kube's derive makes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't include the definition of its kind",
    label = "has no definition",
    note = "for a kind whose definition isn't this operator's write `Controller::of_existing::<{Self}>()`"
)]
pub trait HasDefinition {
    /// The definition.
    fn definition() -> CustomResourceDefinition;
}

#[diagnostic::do_not_recommend]
impl<P: CustomResourceExt> HasDefinition for P {
    fn definition() -> CustomResourceDefinition {
        P::crd()
    }
}

/// Takes the place of the reconciler in a controller that has none. Made by [`Controller::of`](crate::Controller::of).
pub struct NoReconciler<P>(PhantomData<fn() -> P>);

impl<P> NoReconciler<P> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Reconciler for NoReconciler<P> {
    type Primary = P;

    async fn reconcile(&self, _: &P, _: &mut Context<P>) -> Result<UpdateControl<P>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

debug_of!(NoReconciler<P> [P]: "NoReconciler");
