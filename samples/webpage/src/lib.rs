//! A web page as a Kubernetes object: its html in a config map, an nginx that serves it, a service and, when it is
//! exposed, an ingress.
//!
//! This is the low-level style: everything happens in `reconcile`.

mod bench;
mod children;
mod page;
mod reconciler;

use kube::CustomResourceExt;
use operator_core::{Error, Operator, OperatorBuilder};

pub use bench::{RBAC, workbench};
pub use page::{WebPage, WebPageSpec, WebPageStatus};
pub use reconciler::{WebPageError, WebPageReconciler, controller};

/// The operator of web pages.
///
/// # Errors
/// When its declaration contradicts itself.
pub fn operator() -> Result<OperatorBuilder, Error> {
    Ok(Operator::builder().register(controller())?.crd(WebPage::crd()))
}
