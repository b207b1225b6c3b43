//! A workflow has cleaned up completely, and the user's own clean-up wants to keep the primary: it stays until the clean-up agrees.

use integration_tests::prelude::*;

#[operator_test]
async fn the_users_no_wins_over_a_complete_clean_up() -> Result<()> {
    let scene = Scene::new("cleaner-keeps-finalizer").await?;
    let workflow = workflow_of_one(wanted_map("map").without_owner())?;
    let maps = scene.api::<ConfigMap>();
    let script = Script::idle().cleanup({
        let maps = maps.clone();
        move |number, primary: Arc<TestResource>, context| {
            let maps = maps.clone();
            Box::pin(async move {
                anyhow::ensure!(context.so_far()?.all_deleted(), "the workflow comes first");
                anyhow::ensure!(
                    maps.get_opt(&format!("{}-map", primary.name_any())).await?.is_none(),
                    "its map is gone"
                );
                Ok(match number {
                    1 => Removal::again_in(Duration::from_millis(50)),
                    _ => Removal::Done,
                })
            })
        }
    });
    let operator = scene.start(scene.managed(&script, &workflow).cleaner(true)).await?;
    scene.create("one", "first").await?;
    eventually("the map", async || Ok(maps.get_opt("one-map").await?)).await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert_eq!(script.cleanups.of("one").len(), 2, "the primary outlived the first clean-up");
    operator.stop().await;
    Ok(())
}
