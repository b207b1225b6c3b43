//! The filters of primaries.

use integration_tests::prelude::*;

use super::{calm, pass, scene, under};

#[tokio::test(start_paused = true)]
async fn a_new_primary_that_does_not_pass_on_add_is_not_run_before_it_changes() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    scene.create("before", "later").await?;
    let controller = scene.controller(&script).on_add(|primary: &TestResource| primary.spec.value != "later");
    let operator = under(&calm(), &scene, controller).await?;
    scene.create("after", "later").await?;
    scene.create("passes", "now").await?;
    pass(60).await;
    let runs = || ["before", "after", "passes"].map(|name| script.runs.of(name).len());
    assert_eq!(runs(), [0, 0, 1], "of the initial list as well");
    for name in ["before", "after"] {
        scene.set(name, "now").await?;
    }
    pass(60).await;
    assert_eq!(runs(), [1, 1, 1]);
    // An update is no addition.
    scene.set("passes", "later").await?;
    pass(60).await;
    assert_eq!(runs(), [1, 1, 2]);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_generic_filter_is_asked_for_each_change_but_a_deletion() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let controller =
        scene.controller(&script).generic_filter(|primary: &TestResource| primary.spec.value != "hidden");
    let operator = under(&calm(), &scene, controller).await?;
    scene.create("hidden", "hidden").await?;
    scene.create("seen", "seen").await?;
    pass(60).await;
    let runs = || ["hidden", "seen"].map(|name| script.runs.of(name).len());
    assert_eq!(runs(), [0, 1]);
    scene.set("seen", "hidden").await?;
    pass(60).await;
    assert_eq!(runs(), [0, 1], "its newest state doesn't pass");
    scene.set("hidden", "seen").await?;
    // What passes has to pass the default filters as well.
    scene.patch("hidden", json!({ "metadata": { "labels": { "a": "b" } } })).await?;
    pass(60).await;
    assert_eq!(runs(), [1, 1]);

    // A deletion isn't asked about, as what is kept goes with the primary: a successor finds nothing of it.
    assert_eq!(operator.operator().footprint().await.primaries, 2);
    for name in ["hidden", "seen"] {
        scene.delete(name).await?;
    }
    pass(60).await;
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, &footprint.leftovers[..]), (0, &[][..]), "something is kept");
    operator.stop().await;
    Ok(())
}
