//! The children as dependents of a workflow, and the conditions under which they exist: as functions, and as types for the styles
//! that name them.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
    networking::v1::Ingress,
};
use operator_core::{
    BoxError, Context, Desired, KubernetesDependent, Verdict, Want,
    workflow::{Condition, NodeView},
};

use crate::{WebPage, WebPageError, children};

/// Holds the html. A page that can't be served stays as it was.
#[must_use]
pub fn html(page: &WebPage) -> Want<ConfigMap> {
    if !children::is_servable(page) {
        return Want::hold("ErrorInHtml", "the html contains the word \"error\"");
    }
    children::config_map(page).into()
}

/// Serves the html.
///
/// # Errors
/// When the template doesn't fit its type.
pub fn web(page: &WebPage) -> Result<Deployment, WebPageError> {
    children::deployment(page)
}

/// Gives the pods one address.
///
/// # Errors
/// When the template doesn't fit its type.
pub fn service(page: &WebPage) -> Result<Service, WebPageError> {
    children::service(page)
}

/// Makes the page reachable from outside, where that is wanted.
///
/// # Errors
/// When the template doesn't fit its type.
pub fn ingress(page: &WebPage) -> Result<Option<Ingress>, WebPageError> {
    page.spec.exposed.then(|| children::ingress(page)).transpose()
}

/// Holds the html.
#[derive(Clone, Copy, Debug, Default, KubernetesDependent)]
#[dependent(primary = WebPage, resource = ConfigMap)]
pub struct HtmlConfigMap;

impl Desired<WebPage> for HtmlConfigMap {
    type Resource = ConfigMap;

    fn desired(&self, page: &WebPage, _context: &Context<WebPage>) -> Result<ConfigMap, BoxError> {
        Ok(children::config_map(page))
    }
}

/// Serves the html.
#[derive(Clone, Copy, Debug, Default, KubernetesDependent)]
#[dependent(primary = WebPage, resource = Deployment)]
pub struct WebDeployment;

impl Desired<WebPage> for WebDeployment {
    type Resource = Deployment;

    fn desired(&self, page: &WebPage, _context: &Context<WebPage>) -> Result<Deployment, BoxError> {
        Ok(children::deployment(page)?)
    }
}

/// Gives the pods one address.
#[derive(Clone, Copy, Debug, Default, KubernetesDependent)]
#[dependent(primary = WebPage, resource = Service)]
pub struct WebService;

impl Desired<WebPage> for WebService {
    type Resource = Service;

    fn desired(&self, page: &WebPage, _context: &Context<WebPage>) -> Result<Service, BoxError> {
        Ok(children::service(page)?)
    }
}

/// Makes the page reachable from outside.
#[derive(Clone, Copy, Debug, Default, KubernetesDependent)]
#[dependent(primary = WebPage, resource = Ingress)]
pub struct WebIngress;

impl Desired<WebPage> for WebIngress {
    type Resource = Ingress;

    fn desired(&self, page: &WebPage, _context: &Context<WebPage>) -> Result<Ingress, BoxError> {
        Ok(children::ingress(page)?)
    }
}

/// Met while the html can be served. Used to hold: a page that can't be served stays as it was.
#[derive(Clone, Copy, Debug)]
pub struct Servable;

impl Condition<WebPage> for Servable {
    async fn check(
        &self,
        _node: &NodeView<'_, WebPage>,
        page: &Arc<WebPage>,
        _context: &Context<WebPage>,
    ) -> Result<Verdict, BoxError> {
        Ok(Verdict::when(children::is_servable(page), "the html can't be served"))
    }
}

/// Met while the page is to be reachable from outside.
#[derive(Clone, Copy, Debug)]
pub struct Exposed;

impl Condition<WebPage> for Exposed {
    async fn check(
        &self,
        _node: &NodeView<'_, WebPage>,
        page: &Arc<WebPage>,
        _context: &Context<WebPage>,
    ) -> Result<Verdict, BoxError> {
        Ok(Verdict::when(page.spec.exposed, "the page is not exposed"))
    }
}
