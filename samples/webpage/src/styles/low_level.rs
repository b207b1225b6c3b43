//! Everything by hand: the reconciler writes the children itself. For full control over each write, or an order that no
//! workflow has.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
        networking::v1::Ingress,
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::ResourceExt;
use operator_core::{operations, prelude::*};

use crate::{
    WebPage, WebPageError,
    children::{self, IsReady},
};

/// Creates the children of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebPageReconciler;

/// The controller, with the kinds that it watches besides the pages.
pub fn controller() -> ControllerBuilder<WebPageReconciler> {
    Controller::of::<WebPage>()
        .reconciler(WebPageReconciler)
        .name("webpage-operator")
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        .owns::<Service>()
        .owns::<Ingress>()
        .status(children::status)
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
        let owner = context.owner_reference(page).ok_or(WebPageError::NoUid)?;
        let config_map = owned(children::config_map(page), &owner);
        let deployment = owned(children::deployment(page)?, &owner);
        let service = owned(children::service(page)?, &owner);
        let ingress = if page.spec.exposed { Some(owned(children::ingress(page)?, &owner)) } else { None };

        // A child that is already as it should be isn't sent; the others are sent at the same time.
        let (_, deployment, _, ()) = tokio::try_join!(
            context.apply(&config_map),
            context.apply(&deployment),
            context.apply(&service),
            self.expose(page, ingress.as_ref(), context),
        )?;

        context.put(IsReady(children::is_rolled_out(&*deployment.object()?)));
        Ok(UpdateControl::no_update())
    }
}

impl WebPageReconciler {
    /// Creates the ingress of an exposed page, and deletes that of a page that is no longer exposed.
    async fn expose(
        &self,
        page: &WebPage,
        ingress: Option<&Ingress>,
        context: &Context<WebPage>,
    ) -> Result<(), operations::Error> {
        if let Some(ingress) = ingress {
            context.apply(ingress).await?;
        } else if let Some(ingress) = context.secondary_named::<Ingress>(&page.name_any())? {
            context.delete(&*ingress).await?;
        }
        Ok(())
    }
}

/// The child with its owner, so that the garbage collector removes it with the page.
fn owned<K: kube::Resource>(mut child: K, owner: &OwnerReference) -> K {
    child.meta_mut().owner_references = Some(vec![owner.clone()]);
    child
}
