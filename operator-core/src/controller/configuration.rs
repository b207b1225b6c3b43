//! Types that know how their controller is declared.

use super::{Controller, ControllerBuilder, IntoController, Mistakes};
use crate::{
    reconciler::Reconciler,
    resource::KubeObject,
    workflow::{self, Workflow},
};

/// A type that can be registered with an operator directly, because it declares its controller: a reconciler, or a
/// struct whose controller needs none. JOSDK: annotations `@ControllerConfiguration` and `@Workflow`; derive it with
/// [`macro@crate::ControllerConfiguration`], or write by hand what the macro would.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how its controller is declared",
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
