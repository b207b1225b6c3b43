//! A workflow that is invoked explicitly is cleaned up automatically if the reconciler has no clean-up that could do
//! it. With a cleaner, the cleaner has to do it, and the finalizer stays until it is done.

use integration_tests::prelude::*;

fn workflow() -> Result<Workflow<TestResource>> {
    Ok(Workflow::builder().nodes((Child("child").deleted_node(),)).explicit_invocation().build()?)
}

fn script() -> Script {
    Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            context.run().await?;
            Ok(UpdateControl::no_update())
        })
    })
}

#[operator_test]
async fn without_a_cleaner_it_is_cleaned_up_all_the_same() -> Result<()> {
    let scene = Scene::new("workflow-explicit-cleanup").await?;
    let controller = script().controller().workflow(&workflow()?);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(scene.resources.get("one").await?.finalizers().len(), 1, "it turns the finalizer on");
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let deleted = operator.settled().await?;
    assert_eq!(
        deleted.written(),
        ["DELETE configmaps/one-child -> 200", "PATCH testresources/one -> 200"],
        "the child goes before the finalizer"
    );
    Ok(())
}

#[operator_test]
async fn a_cleaner_invokes_it_and_may_keep_the_finalizer() -> Result<()> {
    let scene = Scene::new("workflow-explicit-cleanup").await?;
    let script = script().cleanup(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if primary.spec.value == "keep" {
                return Ok(Removal::keep());
            }
            anyhow::ensure!(context.so_far()?.nodes().is_empty(), "nothing has run yet");
            context.clean_up().await?;
            Ok(Removal::Done)
        })
    });
    let controller = script.controller().cleaner(true).workflow(&workflow()?);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "keep").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    eventually("the clean-up", async || Ok((script.cleanups.count() == 1).then_some(()))).await?;
    operator.settled().await?;
    assert!(scene.api::<ConfigMap>().get_opt("one-child").await?.is_some());
    scene.patch("one", json!({ "spec": { "value": "go" } })).await?;
    scene.until_gone("one").await?;
    assert!(scene.api::<ConfigMap>().get_opt("one-child").await?.is_none());
    Ok(())
}
