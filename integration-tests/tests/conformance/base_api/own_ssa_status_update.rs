//! An own apply of the status causes no run, although each change counts; a later label by someone else does.

use integration_tests::prelude::*;

#[operator_test]
async fn only_others_cause_a_run() -> Result<()> {
    let scene = Scene::new("own-ssa-status-update").await?;
    let script = Script::new(|run, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let mut desired = (*primary).clone();
            desired.status = Some(said(format!("run {run}")));
            context.resource_operations().server_side_apply_status(&desired).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().generation_aware(false).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let key = scene.key("one");

    scene.create("one", "first").await?;
    assert_eq!(operator.settled().await?.runs_of(&key), 1, "an own status causes no run");
    scene.patch("one", json!({ "metadata": { "labels": { "by": "others" } } })).await?;
    assert_eq!(operator.settled().await?.runs_of(&key), 1, "a foreign label causes one");
    assert_eq!(scene.resources.get("one").await?.status, Some(said("run 2")));
    Ok(())
}
