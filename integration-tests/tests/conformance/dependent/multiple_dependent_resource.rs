//! Two dependents of one type in a workflow that the reconciler calls by itself.

use integration_tests::prelude::*;

#[operator_test]
async fn two_config_maps_come_change_and_go() -> Result<()> {
    let scene = Scene::new("multiple-dependent-resource").await?;
    let workflow = workflow_of(["a", "b"].map(wanted_map))?;
    let controller = standalone(&workflow).controller().event_sources_of(&workflow);
    let _operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.two_maps_come_change_and_go().await
}
