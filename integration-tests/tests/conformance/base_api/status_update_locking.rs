//! A change of metadata during a run doesn't make its status write fail.

use integration_tests::prelude::*;

async fn check(use_ssa: bool) -> Result<()> {
    let scene = Scene::new("status-update-locking").await?;
    let gate = Gate::new();
    let script = Script::new({
        let gate = gate.clone();
        move |_, _: Arc<TestResource>, _| {
            let gate = gate.clone();
            Box::pin(async move {
                gate.pass().await;
                Ok(Said::status(said("written")))
            })
        }
    });
    let controller = script.controller().use_ssa_to_patch_primary(use_ssa);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    scene.patch("one", json!({ "metadata": { "annotations": { "by": "others" } } })).await?;
    gate.let_through(1);
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "no failure, and so no retry");
    let one = scene.resources.get("one").await?;
    assert_eq!(one.status, Some(said("written")));
    assert_eq!(one.annotations().get("by").map(String::as_str), Some("others"));
    Ok(())
}

#[operator_test]
async fn with_server_side_apply() -> Result<()> {
    check(true).await
}

#[operator_test]
async fn without_server_side_apply() -> Result<()> {
    check(false).await
}
