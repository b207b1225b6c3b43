//! Changes of a config map that someone else has created are reflected in the status; its deletion triggers a run.

use integration_tests::prelude::*;
use operator_core::observe::{Cause, SourceIndex};

const TARGET: &str = "conformance.operator-core.io/target";

/// Writes the content of the config map that names the primary in an annotation into the status.
fn script() -> Script {
    Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = context.secondary::<ConfigMap>()?;
            let message = map.as_deref().and_then(value_of).unwrap_or("missing").to_owned();
            Ok(Said::status(TestStatus { message: Some(message), ..TestStatus::default() }))
        })
    })
}

async fn start(scene: &Scene, script: &Script) -> Result<TestOperator> {
    let source = InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        let target = map.annotations().get(TARGET);
        target
            .map(|name| ObjectKey::namespaced(&map.namespace().unwrap_or_default(), name))
            .into_iter()
            .collect()
    });
    scene.start(script.controller().watches(source).namespaces([&scene.namespace])).await
}

async fn create_map(scene: &Scene, target: &str, value: &str) -> Result<()> {
    let map = integration_tests::from_json(&json!({
        "metadata": { "name": "map", "annotations": { TARGET: target } },
        "data": { "value": value },
    }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    Ok(())
}

async fn patch_map(scene: &Scene, patch: serde_json::Value) -> Result<()> {
    scene.api::<ConfigMap>().patch("map", &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

async fn message(scene: &Scene, name: &str) -> Result<String> {
    Ok(scene.resources.get(name).await?.status.and_then(|status| status.message).unwrap_or_default())
}

#[operator_test]
async fn a_change_of_the_secondary_is_reflected_in_the_status() -> Result<()> {
    let scene = Scene::new("informer-event-source").await?;
    let script = script();
    let operator = start(&scene, &script).await?;
    create_map(&scene, "one", "first").await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "first");

    patch_map(&scene, json!({ "data": { "value": "second" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "second");
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    let last = script.runs.of("one").pop().expect("a run");
    assert_eq!(last.causes, Cause::Source(SourceIndex(0)).into());
    Ok(())
}

#[operator_test]
async fn the_deletion_of_the_secondary_triggers_a_run() -> Result<()> {
    let scene = Scene::new("informer-event-source").await?;
    let script = script();
    create_map(&scene, "one", "first").await?;
    let operator = start(&scene, &script).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "first");

    scene.api::<ConfigMap>().delete("map", &DeleteParams::default()).await?;
    let settled = operator.settled().await?;
    assert_eq!(message(&scene, "one").await?, "missing");
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    Ok(())
}

#[operator_test]
async fn a_secondary_that_changes_sides_wakes_both_its_old_and_its_new_primary() -> Result<()> {
    let scene = Scene::new("informer-event-source").await?;
    let script = script();
    let operator = start(&scene, &script).await?;
    create_map(&scene, "one", "first").await?;
    for name in ["one", "two", "three"] {
        scene.create(name, "value").await?;
    }
    operator.settled().await?;

    patch_map(&scene, json!({ "metadata": { "annotations": { TARGET: "two" } } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(
        (message(&scene, "one").await?.as_str(), message(&scene, "two").await?.as_str()),
        ("missing", "first")
    );
    let runs: Vec<u32> = ["one", "two", "three"].map(|name| settled.runs_of(&scene.key(name))).into();
    assert_eq!(runs, [1, 1, 0]);
    Ok(())
}
