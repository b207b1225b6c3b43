//! A bulk dependent in a workflow that the reconciler calls by itself.

use integration_tests::prelude::*;

#[operator_test]
async fn the_reconciler_brings_about_and_deletes_the_config_maps() -> Result<()> {
    let scene = Scene::new("standalone-bulk-dependent").await?;
    let maps = node(counted_maps).without_owner();
    let workflow = workflow_of_one(maps)?;
    let controller = standalone(&workflow).controller().cleaner(true).event_sources_of(&workflow);
    let _operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.scale_up_and_down().await
}
