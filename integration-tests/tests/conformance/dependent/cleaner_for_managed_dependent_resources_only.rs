//! A reconciler without a clean-up of its own has a dependent that must be deleted: its primaries get the finalizer, and the
//! dependent is deleted before they go.

use integration_tests::prelude::*;

#[operator_test]
async fn a_dependent_that_must_be_deleted_is_enough_for_a_finalizer() -> Result<()> {
    let scene = Scene::new("cleaner-for-managed-dependents").await?;
    let script = Script::idle();
    let workflow = workflow_of_one(wanted_map("a").without_owner())?;
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let one = scene.resources.get("one").await?;
    assert_eq!(one.finalizers(), ["testresources.conformance.operator-core.io/finalizer"]);
    scene.until_values([("one-a", "first")]).await?;

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(scene.values().await?.is_empty(), "it was deleted before its primary went");
    assert_eq!(script.cleanups.count(), 0);
    Ok(())
}
