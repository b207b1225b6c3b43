//! A workflow that is declared as invoked explicitly runs only when the reconciler calls it.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{Child, Scene, Script, TestResource};
use operator_core::{Controller, UpdateControl, Workflow, testing::operator_test};
use serde_json::json;

#[operator_test]
async fn it_runs_when_it_is_called() -> Result<()> {
    let scene = Scene::new("workflow-explicit-invocation").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            anyhow::ensure!(context.workflow().result().is_none(), "nothing has run yet");
            if primary.spec.value == "invoke" {
                let result = context.workflow().reconcile().await?;
                anyhow::ensure!(result.all_ready(), "{result}");
                anyhow::ensure!(context.workflow().result().is_some(), "it is remembered");
            }
            Ok(UpdateControl::no_update())
        })
    });
    let workflow = Workflow::builder().node(Child("child").node()).explicit_invocation().build()?;
    let controller = Controller::builder(script.clone()).workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "wait").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    scene.patch("one", json!({ "spec": { "value": "invoke" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-child -> 201"]);
    assert_eq!(script.runs.count(), 2);
    Ok(())
}
