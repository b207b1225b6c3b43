//! A workflow that the reconciler builds and calls by itself, without macros. For those who want to decide in code when the
//! children are reconciled.

use std::{error::Error as StdError, sync::Arc};

use operator_core::{
    Context, Controller, ControllerBuilder, ErrorStatusUpdateControl, Reconciler, UpdateControl, Wire,
    Workflow, workflow,
};

use crate::{
    WebPage, WebPageError, children,
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
/// When the declaration contradicts itself.
pub fn workflow() -> Result<Workflow<WebPage>, workflow::Error> {
    Workflow::builder().nodes((html, web.after(html), service.after(html), ingress.after(service))).build()
}

/// The controller, which watches what the workflow needs.
///
/// # Errors
/// When the declaration contradicts itself.
pub fn controller() -> Result<ControllerBuilder<WebPageReconciler>, workflow::Error> {
    let workflow = workflow()?;
    let reconciler = WebPageReconciler { workflow: workflow.clone() };
    Ok(Controller::builder(reconciler).name("webpage-operator").event_sources_of(&workflow))
}

impl Reconciler for WebPageReconciler {
    type Primary = WebPage;
    type Error = WebPageError;

    async fn reconcile(
        &self,
        page: Arc<WebPage>,
        context: &Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, WebPageError> {
        if !children::is_servable(&page) {
            return Err(WebPageError::ErrorInHtml);
        }
        let result = self.workflow.reconcile(&page, context).await;
        result.check()?;
        Ok(UpdateControl::patch_status(children::status(&page, result.all_ready())))
    }

    async fn update_error_status(
        &self,
        page: Arc<WebPage>,
        _context: &Context<WebPage>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> ErrorStatusUpdateControl<WebPage> {
        ErrorStatusUpdateControl::patch_status(children::error_status(&page, error))
    }

    fn is_retryable(&self, error: &WebPageError) -> bool {
        error.is_retryable()
    }
}
