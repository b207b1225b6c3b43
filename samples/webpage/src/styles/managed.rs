//! A workflow that is declared on the reconciler, and has run when `reconcile` is called. The one to begin with.

use std::{error::Error as StdError, sync::Arc};

use operator_core::{
    Context, ControllerConfiguration, ErrorStatusUpdateControl, Reconciler, UpdateControl,
    workflow::conditions::Ready,
};

use crate::{
    WebPage, WebPageError, children,
    dependents::{Exposed, HtmlConfigMap, Servable, WebDeployment, WebIngress, WebService},
};

/// Says what became of the children.
#[derive(Clone, Copy, Debug, ControllerConfiguration)]
#[controller(primary = WebPage, name = "webpage-operator")]
#[workflow(
    dependent(HtmlConfigMap, hold_unless = Servable),
    dependent(WebDeployment, depends_on(HtmlConfigMap), ready_postcondition = Ready),
    dependent(WebService, depends_on(HtmlConfigMap)),
    dependent(WebIngress, depends_on(WebService), reconcile_precondition = Exposed),
)]
pub struct WebPageReconciler;

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
        let ready = context.workflow().result().is_some_and(|result| result.all_ready());
        Ok(UpdateControl::patch_status(children::status(&page, ready)))
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
