//! The children as dependents of a workflow: what should exist, as functions of the page.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
    networking::v1::Ingress,
};
use operator_core::prelude::*;

use crate::{WebPage, WebPageError, children};

/// Holds the html. A page that can't be served is left unchanged.
pub fn html(page: &WebPage) -> Want<ConfigMap> {
    if !children::is_servable(page) {
        return Want::hold("ErrorInHtml", "the html contains the word \"error\"");
    }
    children::config_map(page).into()
}

/// Serves the html.
///
/// # Errors
/// If the template doesn't fit its type.
pub fn web(page: &WebPage) -> Result<Deployment, WebPageError> {
    children::deployment(page)
}

/// Gives the pods one address.
///
/// # Errors
/// If the template doesn't fit its type.
pub fn service(page: &WebPage) -> Result<Service, WebPageError> {
    children::service(page)
}

/// Makes the page reachable from outside, if that is wanted.
///
/// # Errors
/// If the template doesn't fit its type.
pub fn ingress(page: &WebPage) -> Result<Option<Ingress>, WebPageError> {
    page.spec.exposed.then(|| children::ingress(page)).transpose()
}
