//! A workflow that the reconciler builds and calls itself, without macros. For operators that decide in code when the
//! children are reconciled.

use operator_core::{Workflow, prelude::*, workflow};

use crate::{
    WebPage, WebPageError,
    children::{self, IsReady},
    dependents::{html, ingress, service, web},
};

/// Calls its workflow.
#[derive(Debug)]
pub struct WebPageReconciler {
    workflow: Workflow<WebPage>,
}

/// The children in their order.
///
/// # Errors
/// If the declaration contradicts itself.
pub fn workflow() -> Result<Workflow<WebPage>, workflow::BuildError> {
    Workflow::builder().nodes((html, web.after(html), service.after(html), ingress.after(service))).build()
}

/// The controller, which watches what the workflow needs.
///
/// # Errors
/// If the declaration contradicts itself.
pub fn controller() -> Result<ControllerBuilder<WebPageReconciler>, workflow::BuildError> {
    let workflow = workflow()?;
    let reconciler = WebPageReconciler { workflow: workflow.clone() };
    Ok(Controller::of::<WebPage>()
        .reconciler(reconciler)
        .name("webpage-operator")
        .event_sources_of(&workflow)
        .status(children::status))
}

impl Reconciler for WebPageReconciler {
    type Primary = WebPage;

    async fn reconcile(
        &self,
        page: &WebPage,
        context: &mut Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>> {
        if !children::is_servable(page) {
            return Err(Permanent::new(WebPageError::ErrorInHtml).into());
        }
        let run = self.workflow.reconcile(page, context).await;
        run.check()?;
        context.put(IsReady(run.all_ready()));
        Ok(UpdateControl::no_update())
    }
}
