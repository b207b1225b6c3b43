//! The sample's operator, with mistakes in its declaration.

use std::process::ExitCode;

use kube::CustomResourceExt;
use operator_core::{Controller, KubernetesDependent, Operator, Workflow};
use webpage::{WebPage, dependents::HtmlConfigMap, styles};

#[tokio::main]
async fn main() -> ExitCode {
    let html = KubernetesDependent::new(HtmlConfigMap).event_source("maps");
    let pages =
        Controller::builder(styles::managed::WebPageReconciler).name("pages").max_concurrent_reconciles(0);
    Operator::builder()
        .register(pages.workflow(Workflow::builder().dependent(html)))
        .register(styles::low_level::controller().name("Others"))
        .crd(WebPage::crd())
        .main()
        .await
}
