//! Gates, suspension, another version of the operator, and a pause.

use integration_tests::prelude::*;
use operator_component::component;

use super::stand::{DISABLED, HEALTHY, SUSPENDED, Stage, base, deployment, extra, map, says};

fn server(stand: &Stand) -> Deployment {
    deployment(stand, "server")
}

fn cache(stand: &Stand) -> ConfigMap {
    map(stand, "cache")
}

#[operator_test]
async fn a_gate_that_goes_off_removes_its_component_and_leaves_the_other() -> Result<()> {
    let nodes = (
        component("base", (base,)),
        component("extra", (extra,)).only_if(|stand: &Stand| says(stand, "extra")),
    );
    let stage = Stage::of("component-gate", nodes).await?;
    assert_eq!(stage.say("base").await?, ["PATCH configmaps/base -> 201"]);
    assert_eq!(stage.told("ExtraReady").await?, DISABLED);
    // Both are as they should be.
    assert!(stage.told("Ready").await?.starts_with("True "));
    let changed = stage.changed("BaseReady").await?;
    let made = ["PATCH configmaps/base -> 200", "PATCH configmaps/extra -> 201"];
    assert_eq!(stage.say("base extra").await?, made);
    assert_eq!(stage.told("ExtraReady").await?, HEALTHY);
    let gone = ["DELETE configmaps/extra -> 200", "PATCH configmaps/base -> 200"];
    assert_eq!(stage.say("base again").await?, gone);
    assert_eq!(stage.told("ExtraReady").await?, DISABLED);
    assert_eq!(stage.told("BaseReady").await?, HEALTHY);
    assert_eq!(stage.changed("BaseReady").await?, changed);
    Ok(())
}

#[operator_test]
async fn a_component_is_suspended_and_resumed_while_the_other_runs() -> Result<()> {
    let first = component("web", (server, cache))
        .suspended_if(|stand: &Stand| says(stand, "suspended"))
        .deleted_on_suspend(cache);
    let nodes = (first, component("base", (base,)));
    let stage = Stage::of("component-suspends", nodes).await?;
    // What doesn't exist is made suspended, and what goes on suspension isn't made.
    stage.say("suspended").await?;
    stage.until("WebReady", SUSPENDED).await?;
    assert_eq!(stage.replicas("server").await?, Some(0));
    assert!(stage.scene.api::<ConfigMap>().get_opt("cache").await?.is_none());
    assert_eq!(stage.told("BaseReady").await?, HEALTHY);
    let changed = stage.changed("BaseReady").await?;

    stage.say("runs").await?;
    stage.until("WebReady", HEALTHY).await?;
    assert_eq!(stage.replicas("server").await?, Some(2));
    assert!(stage.scene.api::<ConfigMap>().get_opt("cache").await?.is_some());

    stage.say("suspended").await?;
    stage.until("WebReady", SUSPENDED).await?;
    assert_eq!(stage.replicas("server").await?, Some(0));
    assert!(stage.scene.api::<ConfigMap>().get_opt("cache").await?.is_none());
    assert_eq!(
        (stage.told("BaseReady").await?.as_str(), stage.changed("BaseReady").await?),
        (HEALTHY, changed)
    );
    Ok(())
}

#[operator_test]
async fn a_newer_version_with_other_components_leaves_nothing_of_the_older_one() -> Result<()> {
    let scene = Stage::scene("component-upgrade").await?;
    let nodes = (component("base", (base,)), component("extra", (extra,)));
    let older = Stage::of_nodes(scene.clone(), nodes).await?;
    older.say("1").await?;
    assert_eq!(older.told("ExtraReady").await?, HEALTHY);
    let changed = older.changed("BaseReady").await?;
    older.operator.stop().await;

    let nodes = (component("base", (base,)), component("caching", (cache,)));
    let newer = Stage::of_nodes(scene, nodes).await?;
    newer.settled().await?;
    let maps = newer.scene.api::<ConfigMap>();
    assert!(maps.get_opt("extra").await?.is_none(), "its objects are those of former nodes");
    assert_eq!(newer.told("ExtraReady").await?, "");
    assert_eq!(newer.told("CachingReady").await?, HEALTHY);
    assert_eq!(
        (newer.told("BaseReady").await?.as_str(), newer.changed("BaseReady").await?),
        (HEALTHY, changed)
    );
    Ok(())
}

#[operator_test]
async fn a_pause_keeps_what_was_told_of_components() -> Result<()> {
    let stage = Stage::new("component-pause", |scene| {
        let nodes = (
            component("base", (base,)),
            component("extra", (extra,)).only_if(|stand: &Stand| says(stand, "extra")),
        );
        let controller = scene.controller(&Script::idle()).paused_when(|stand: &Stand| says(stand, "paused"));
        Ok(controller.workflow(Workflow::builder().nodes(nodes).build()?))
    })
    .await?;
    stage.say("1").await?;
    assert_eq!(stage.say("extra paused").await?, [""; 0]);
    assert_eq!(stage.told("Ready").await?, "False Suspended it is paused");
    assert_eq!(stage.told("BaseReady").await?, HEALTHY);
    assert_eq!(stage.told("ExtraReady").await?, DISABLED);
    stage.say("extra").await?;
    assert_eq!(stage.told("ExtraReady").await?, HEALTHY);
    assert!(stage.told("Ready").await?.starts_with("True "));
    Ok(())
}
