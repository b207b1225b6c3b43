//! The children as functions, in an order that the controller knows, and one function for the status; no reconciler.
//! Start with this style.

use kube::ResourceExt;
use operator_core::prelude::*;

use crate::dependents::{html, ingress, service, web};
use crate::{WebPage, WebPageStatus};

/// Reports the state of the children. A page that can't be served is held, with the reason.
pub fn status(page: &WebPage, run: &Run<WebPage>) -> WebPageStatus {
    let held = run.held().next().map(|node| node.state.to_string());
    WebPageStatus {
        html_config_map: run.get(html).map(|map| map.name_any()),
        ready: run.all_ready(),
        error_message: run.error().map(ToString::to_string).or(held),
        observed_generation: page.metadata.generation,
    }
}

/// The controller, which is registered as it is.
#[derive(ControllerConfiguration, Clone, Copy, Debug)]
#[controller(primary = WebPage, name = "webpage-operator", status = status, retry(max_interval = "1m"))]
#[workflow(html, web(after(html)), service(after(html)), ingress(after(service)))]
pub struct WebPages;
