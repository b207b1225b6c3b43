//! The reconciler.

use std::{error::Error as StdError, sync::Arc};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
    networking::v1::Ingress,
};
use kube::ResourceExt;
use operator_core::{
    Context, Controller, ControllerBuilder, ErrorStatusUpdateControl, Reconciler, UpdateControl, operations,
};

use crate::{
    WebPage, WebPageStatus,
    children::{Children, config_map_name},
};

/// What can go wrong with a page.
#[derive(Debug, thiserror::Error)]
pub enum WebPageError {
    /// The html can't be served. Only a new html helps.
    #[error(
        "the html contains the word \"error\"; this sample refuses such pages, to show what happens then"
    )]
    ErrorInHtml,
    /// The page was not read from a cluster.
    #[error("the page has no uid")]
    NoUid,
    /// A child's template is not what its type expects.
    #[error("a child's template does not fit its type")]
    Template(#[source] serde_json::Error),
    /// A child can't be written.
    #[error("a child could not be written")]
    Write(#[from] operations::Error),
}

/// Brings the children of a page into being.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebPageReconciler;

/// The controller of web pages: what it watches beside them.
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
        if page.spec.html.contains("error") {
            return Err(WebPageError::ErrorInHtml);
        }
        let owner = context.owner_reference(&page).ok_or(WebPageError::NoUid)?;
        let children = Children::of(&page, owner);
        let (config_map, deployment, service) =
            (children.config_map(), children.deployment()?, children.service()?);
        let ingress = if page.spec.exposed { Some(children.ingress()?) } else { None };

        // What is already as it should be is not sent; the rest goes out at the same time.
        let operations = context.resource_operations();
        let (_, deployment, _, ()) = tokio::try_join!(
            operations.server_side_apply(&config_map),
            operations.server_side_apply(&deployment),
            operations.server_side_apply(&service),
            self.expose(&page, ingress.as_ref(), context),
        )?;

        Ok(UpdateControl::patch_status(WebPageStatus {
            html_config_map: Some(config_map_name(&page)),
            ready: is_rolled_out(&deployment),
            error_message: None,
            observed_generation: page.metadata.generation,
        }))
    }

    async fn update_error_status(
        &self,
        page: Arc<WebPage>,
        _context: &Context<WebPage>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> ErrorStatusUpdateControl<WebPage> {
        let before = page.status.clone().unwrap_or_default();
        ErrorStatusUpdateControl::patch_status(WebPageStatus {
            ready: false,
            error_message: Some(error.to_string()),
            observed_generation: page.metadata.generation,
            ..before
        })
    }

    fn is_retryable(&self, error: &WebPageError) -> bool {
        match error {
            WebPageError::ErrorInHtml | WebPageError::NoUid | WebPageError::Template(_) => false,
            WebPageError::Write(error) => error.is_retryable(),
        }
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
        } else if let Some(ingress) = context.secondary_named::<Ingress>(&page.name_any()) {
            operations.delete(&*ingress).await?;
        }
        Ok(())
    }
}

/// Whether the newest pod template is what is running.
fn is_rolled_out(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation >= deployment.metadata.generation
            && status.updated_replicas.unwrap_or(0) >= wanted
            && status.ready_replicas.unwrap_or(0) >= wanted
            && status.replicas.unwrap_or(0) == wanted
    })
}
