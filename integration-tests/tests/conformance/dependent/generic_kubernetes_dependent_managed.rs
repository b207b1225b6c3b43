//! A dependent of a kind that is known at run time only, in a managed workflow.

use integration_tests::prelude::*;

#[operator_test]
async fn an_untyped_dependent_is_created_updated_and_collected() -> Result<()> {
    let scene = Scene::new("generic-dependent-managed").await?;
    let workflow = workflow_of_one(untyped_map("a"))?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    let created = operator.settled().await?;
    assert_eq!(created.written(), ["PATCH configmaps/one-a -> 201"]);
    scene.until_values([("one-a", "first")]).await?;
    scene.set("one", "second").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    scene.until_values([("one-a", "second")]).await?;
    scene.until_nothing_is_left_of("one").await
}
