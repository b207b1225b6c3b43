//! A dependent of a kind that is known at run time only, called by the reconciler itself, without a workflow.

use integration_tests::prelude::*;

#[operator_test]
async fn an_untyped_dependent_without_a_workflow() -> Result<()> {
    let scene = Scene::new("generic-dependent-standalone").await?;
    let dependent = untyped_map("a").standalone();
    let called = dependent.clone();
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let dependent = called.clone();
        Box::pin(async move {
            dependent.reconcile(&primary, context).await.map_err(anyhow::Error::from_boxed)?;
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().dependent(&dependent);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    scene.set("one", "second").await?;
    scene.until_values([("one-a", "second")]).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 2);
    scene.until_nothing_is_left_of("one").await
}
