//! The status at each end of a run.

use anyhow::Result;
use integration_tests::{Child, Scene, Script};
use operator_core::{Workflow, testing::operator_test};
use serde_json::json;

use super::{status, told};

#[operator_test]
async fn a_run_that_succeeds_says_so_once_for_each_change() -> Result<()> {
    let scene = Scene::new("status-success").await?;
    let workflow = Workflow::builder().node(Child("app").node()).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one-app -> 201", "PATCH testresources/one/status -> 200"]
    );
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "its own status causes no run");
    let one = scene.resources.get("one").await?;
    assert_eq!(
        told(&one),
        ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"]
    );
    assert_eq!(one.status.unwrap_or_default().observed_generation, Some(1));

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one-app -> 200", "PATCH testresources/one/status -> 200"]
    );
    assert_eq!(scene.resources.get("one").await?.status.unwrap_or_default().observed_generation, Some(2));
    Ok(())
}
