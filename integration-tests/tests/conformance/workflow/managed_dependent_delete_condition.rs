//! The primary stays until its dependent is really gone: the dependent has someone else's finalizer.

use integration_tests::prelude::*;
use operator_core::workflow::conditions::ResourceDeleted;

#[operator_test]
async fn the_primary_waits_for_the_end_of_its_dependent() -> Result<()> {
    let scene = Scene::new("dependent-delete-condition").await?;
    let (script, _) = looking_on::<TestResource>();
    let below = Child("below").deleted_node();
    let child = Child("child").deleted_node().after(&below).gone(ResourceDeleted);
    let workflow = Workflow::builder().nodes((below, child)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let finalizer = |finalizers: &[&str]| Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    maps.patch("one-child", &PatchParams::default(), &finalizer(&["example.com/foreign"])).await?;
    operator.settled().await?;

    scene.delete("one").await?;
    eventually("the child's mark", async || {
        Ok(maps.get("one-child").await?.metadata.deletion_timestamp.map(|_| ()))
    })
    .await?;
    operator.settled().await?;
    assert_eq!(scene.resources.get("one").await?.finalizers().len(), 1);
    assert!(maps.get_opt("one-below").await?.is_some(), "what it depends on stays as well");

    maps.patch("one-child", &PatchParams::default(), &finalizer(&[])).await?;
    scene.until_gone("one").await?;
    assert!(maps.get_opt("one-child").await?.is_none() && maps.get_opt("one-below").await?.is_none());
    Ok(())
}
