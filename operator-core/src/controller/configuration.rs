//! A reconciler that knows how its controller is declared.

use super::{Controller, ControllerBuilder, IntoController, Mistakes};
use crate::{
    reconciler::Reconciler,
    workflow::{self, Workflow},
};

/// A reconciler that can be registered with an operator as it is, since it says how its controller is declared.
/// JOSDK: annotations `@ControllerConfiguration` and `@Workflow`; derive it with
/// [`macro@crate::ControllerConfiguration`], or write by hand what the macro would.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how its controller is declared",
    note = "add `#[derive(ControllerConfiguration)]` to the reconciler, or use `Controller::builder(reconciler)`"
)]
pub trait ControllerConfiguration: Reconciler + Sized {
    /// The workflow that is declared for it, if there is one.
    ///
    /// # Errors
    /// When it contradicts itself.
    fn workflow(&self) -> Result<Option<Workflow<Self::Primary>>, workflow::Error> {
        Ok(None)
    }

    /// Its controller, to be registered or to be declared further.
    fn controller(self) -> ControllerBuilder<Self>;
}

impl<R: ControllerConfiguration> IntoController for R {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        self.controller().build()
    }
}
