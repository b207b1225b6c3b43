//! A bulk dependent whose objects aren't garbage-collected: it deletes superfluous ones, and all of them before its primary goes.

use integration_tests::prelude::*;

#[operator_test]
async fn the_operator_deletes_what_is_not_desired_and_all_in_the_end() -> Result<()> {
    let scene = Scene::new("bulk-dependent-deleter").await?;
    let maps = node(counted_maps).without_owner();
    let workflow = workflow_of_one(maps)?;
    assert!(workflow.has_deletable(), "its primaries need a finalizer");
    let _operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.scale_up_and_down().await
}
