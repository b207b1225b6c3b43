//! Two managed dependents of one type: they share an informer, and are garbage-collected.

use integration_tests::prelude::*;

#[operator_test]
async fn two_config_maps_come_change_and_go_with_their_primary() -> Result<()> {
    let scene = Scene::new("managed-same-type").await?;
    let script = Script::idle();
    let workflow = workflow_of(["a", "b"].map(wanted_map))?;
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.two_maps_come_change_and_go().await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 2, "one for each state of the spec");
    Ok(())
}
