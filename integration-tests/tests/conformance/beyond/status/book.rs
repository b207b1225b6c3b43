//! The example of the book.

use integration_tests::prelude::*;
use integration_tests::{TestResource as Site, TestStatus as SiteStatus};
use operator_core::Run;

use super::{three, told_now};

// ANCHOR: function
fn status(site: &Site, run: &Run<Site>) -> SiteStatus {
    let message = run.error().map(|error| match error.node() {
        Some(node) => format!("{node} failed: {error}"),
        None => error.to_string(),
    });
    SiteStatus {
        observed_generation: site.metadata.generation,
        conditions: run.conditions(site), // Ready, Reconciling, Stalled
        message,
        ..SiteStatus::default()
    }
}
// ANCHOR_END: function

type Sites = Script<Site>;

fn controller(sites: Sites, workflow: &Workflow<Site>) -> ControllerBuilder<Sites> {
    // ANCHOR: controller
    Controller::builder(sites).workflow(workflow).status(status)
    // ANCHOR_END: controller
}

#[operator_test]
async fn the_status_says_what_the_run_has_come_to() -> Result<()> {
    let scene = Scene::new("status-book").await?;
    scene.failures.expect("there is no such plan");
    let controller = controller(Script::idle(), &three()?).namespaces([&scene.namespace]);
    let operator = scene.start(controller.retry(super::retries(0)?)).await?;
    scene.create("one", "bad").await?;
    operator.settled().await?;
    let message = scene.resources.get("one").await?.status.and_then(|status| status.message);
    let words = "picky failed: 1 dependent failed: picky: there is no such plan";
    assert_eq!(message.as_deref(), Some(words));
    scene.patch("one", serde_json::json!({ "spec": { "value": "good" } })).await?;
    operator.settled().await?;
    assert_eq!(told_now(&scene).await?[0], "Ready True Succeeded");
    Ok(())
}
