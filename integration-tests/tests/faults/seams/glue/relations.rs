//! Which primaries a change of a secondary concerns, if nothing has related the two before.

use integration_tests::prelude::*;

use super::{Scene, calm, pass, scene, under};

async fn create(scene: &Scene, name: &str, of: &str) -> Result<()> {
    let map = json!({ "metadata": { "name": name }, "data": { "of": of } });
    scene.api::<ConfigMap>().create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    pass(5).await;
    Ok(())
}

/// A primary that came after the secondary was seen last: the mapper knows it, the index doesn't.
#[tokio::test(start_paused = true)]
async fn a_deletion_wakes_a_primary_that_has_come_since_the_last_change() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let source = InformerEventSource::<ConfigMap>::new()
        .map_to_primary_with(|map, primaries| primaries.by_index("needs", &map.name_any()));
    let controller = script
        .controller()
        .name("needing")
        .index("needs", |primary: &TestResource| vec![primary.spec.value.clone()])
        .watches(source);
    let operator = under(&calm(), &scene, controller.namespaces([&scene.namespace])).await?;
    create(&scene, "shared", "nobody").await?;
    scene.create("one", "shared").await?;
    pass(5).await;
    assert_eq!(script.runs.count(), 1);
    scene.api::<ConfigMap>().delete("shared", &DeleteParams::default()).await?;
    pass(5).await;
    assert_eq!(script.runs.count(), 2, "its map is gone");
    operator.stop().await;
    Ok(())
}

/// With a mapper of its own besides the references, a secondary that moves also concerns the primaries that it leaves.
#[tokio::test(start_paused = true)]
async fn a_referenced_secondary_that_moves_wakes_whom_it_leaves() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let source = InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        let of = map.data.as_ref().and_then(|data| data.get("of"));
        of.map(|name| ObjectKey::namespaced(&map.namespace().unwrap_or_default(), name)).into_iter().collect()
    });
    let controller =
        script.controller().name("referring").watches_referenced(source, |primary: &TestResource| {
            vec![ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), &primary.spec.value)]
        });
    let operator = under(&calm(), &scene, controller.namespaces([&scene.namespace])).await?;
    for name in ["one", "two"] {
        scene.create(name, "shared").await?;
    }
    create(&scene, "shared", "one").await?;
    let runs = || ["one", "two"].map(|name| script.runs.of(name).len());
    assert_eq!(runs(), [2, 1]);
    let patch = Patch::Merge(json!({ "data": { "of": "two" } }));
    scene.api::<ConfigMap>().patch("shared", &PatchParams::default(), &patch).await?;
    pass(5).await;
    assert_eq!(runs(), [3, 2], "the one it left, and the one it has come to");
    operator.stop().await;
    Ok(())
}

/// The live primary is read if an object that it owned is gone, and only then.
#[tokio::test(start_paused = true)]
async fn a_run_for_the_end_of_what_was_owned_looks_at_the_live_primary() -> Result<()> {
    let (scene, script) = (scene().await?, Script::<TestResource>::idle());
    let controller = script.controller().name("owner").owns::<ConfigMap>();
    let operator = under(&calm(), &scene, controller.namespaces([&scene.namespace])).await?;
    let one = scene.create("one", "value").await?;
    pass(5).await;
    let maps = scene.api::<ConfigMap>();
    let mut owned = integration_tests::map_of(&one, "a", "owned");
    owned.metadata.owner_references =
        kube::Resource::controller_owner_ref(&one, &()).map(|owner| vec![owner]);
    maps.create(&PostParams::default(), &owned).await?;
    pass(5).await;
    let patch = Patch::Merge(json!({ "data": { "value": "changed" } }));
    maps.patch("one-a", &PatchParams::default(), &patch).await?;
    pass(5).await;
    let looks = |requests: &[operator_core::testing::ObjectRequest]| {
        let all = requests.iter().map(ToString::to_string);
        all.filter(|request| request.starts_with("GET testresources/one")).count()
    };
    let settled = operator.settled().await?;
    assert_eq!((script.runs.count(), looks(&settled.requests)), (3, 0), "runs and looks for changes");
    maps.delete("one-a", &DeleteParams::default()).await?;
    pass(5).await;
    let settled = operator.settled().await?;
    assert_eq!((script.runs.count(), looks(&settled.requests)), (4, 1), "runs and looks for its end");
    operator.stop().await;
    Ok(())
}

/// The change is one of the metadata, which otherwise triggers nothing.
#[tokio::test(start_paused = true)]
async fn a_finalizer_that_somebody_takes_off_is_put_on_again() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let operator = under(&calm(), &scene, scene.controller(&script).cleaner(true)).await?;
    scene.create("one", "value").await?;
    pass(5).await;
    let finalizers = async || Ok::<_, anyhow::Error>(scene.resources.get("one").await?.finalizers().len());
    assert_eq!((script.runs.count(), finalizers().await?), (1, 1), "runs, and finalizers");
    scene.patch("one", json!({ "metadata": { "finalizers": [] } })).await?;
    pass(5).await;
    assert_eq!((script.runs.count(), finalizers().await?), (2, 1), "runs, and finalizers");
    operator.stop().await;
    Ok(())
}
