//! A dependent with an owner reference: the garbage collector deletes it with its primary, and a precondition that
//! isn't met makes the operator delete it earlier. Neither needs a finalizer.

use integration_tests::prelude::*;
use operator_core::Wire as _;

#[operator_test]
async fn it_goes_with_its_primary() -> Result<()> {
    let scene = Scene::new("dependent-garbage-collection").await?;
    let workflow = workflow_of_one(wanted_map("a"))?;
    let _operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    let one = scene.resources.get("one").await?;
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    assert!(one.finalizers().is_empty());
    assert_eq!(
        map.owner_references().iter().map(|owner| &owner.uid).collect::<Vec<_>>(),
        [&one.uid().unwrap_or_default()]
    );
    scene.until_nothing_is_left_of("one").await
}

#[operator_test]
async fn it_goes_when_its_precondition_is_not_met_any_more() -> Result<()> {
    let scene = Scene::new("dependent-garbage-collection").await?;
    let map = |one: &TestResource| (one.spec.value != "off").then(|| map_of(one, "a", &one.spec.value));
    let workflow = workflow_of_one(map.named("a"))?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "on").await?;
    scene.until_values([("one-a", "on")]).await?;
    scene.set("one", "off").await?;
    scene.until_values([]).await?;
    operator.settled().await?;
    scene.set("one", "on again").await?;
    scene.until_values([("one-a", "on again")]).await?;
    scene.until_nothing_is_left_of("one").await
}
