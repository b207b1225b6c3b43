//! Two managed dependents of one type that are distinguished only by the names that they desire.

use integration_tests::prelude::*;

#[operator_test]
async fn two_config_maps_that_the_operator_deletes_itself() -> Result<()> {
    let scene = Scene::new("managed-no-discriminator").await?;
    let workflow = workflow_of(["a", "b"].map(|name| wanted_map(name).without_owner()))?;
    let _operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.two_maps_come_change_and_go().await
}
