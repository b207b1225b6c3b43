//! Everything by hand: the reconciler writes the children itself. For those who want to see each write, or need an order
//! that no workflow has.

use std::{error::Error as StdError, sync::Arc};

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
        networking::v1::Ingress,
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::ResourceExt;
use operator_core::{
    Context, Controller, ControllerBuilder, ErrorStatusUpdateControl, Reconciler, UpdateControl, operations,
};

use crate::{WebPage, WebPageError, children};

/// Brings the children of a page into being.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebPageReconciler;

/// The controller: what it watches beside the pages.
pub fn controller() -> ControllerBuilder<WebPageReconciler> {
    Controller::builder(WebPageReconciler)
        .name("webpage-operator")
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        .owns::<Service>()
        .owns::<Ingress>()
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
        let owner = context.owner_reference(&page).ok_or(WebPageError::NoUid)?;
        let config_map = owned(children::config_map(&page), &owner);
        let deployment = owned(children::deployment(&page)?, &owner);
        let service = owned(children::service(&page)?, &owner);
        let ingress = if page.spec.exposed { Some(owned(children::ingress(&page)?, &owner)) } else { None };

        // What is already as it should be is not sent; the rest goes out at the same time.
        let operations = context.resource_operations();
        let (_, deployment, _, ()) = tokio::try_join!(
            operations.server_side_apply(&config_map),
            operations.server_side_apply(&deployment),
            operations.server_side_apply(&service),
            self.expose(&page, ingress.as_ref(), context),
        )?;

        let is_ready = children::is_rolled_out(&*deployment.object()?);
        Ok(UpdateControl::patch_status(children::status(&page, is_ready)))
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

impl WebPageReconciler {
    /// Creates the ingress of an exposed page, and removes that of one that is not exposed any more.
    async fn expose(
        &self,
        page: &WebPage,
        ingress: Option<&Ingress>,
        context: &Context<WebPage>,
    ) -> Result<(), operations::Error> {
        let operations = context.resource_operations();
        if let Some(ingress) = ingress {
            operations.server_side_apply(ingress).await?;
        } else if let Some(ingress) = context.secondary_named::<Ingress>(&page.name_any())? {
            operations.delete(&*ingress).await?;
        }
        Ok(())
    }
}

/// The child with its owner, so that the garbage collector removes it with the page.
fn owned<K: kube::Resource>(mut child: K, owner: &OwnerReference) -> K {
    child.meta_mut().owner_references = Some(vec![owner.clone()]);
    child
}
