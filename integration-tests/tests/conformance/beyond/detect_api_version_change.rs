//! An object that was written in another version of its API is written once more, even if nothing seems to differ.

use integration_tests::prelude::*;
use operator_core::dependent::matcher::Matcher;

const VERSION: &str = "operator-core.io/last-applied-api-version";

/// An operator whose matcher finds every map as desired.
async fn start(scene: &Scene, detects: bool) -> Result<TestOperator> {
    let node = wanted_map("a").matcher(Matcher::custom(|_, _| true));
    let node = if detects { node.detect_api_version_change() } else { node };
    scene.start(scene.managed(&Script::idle(), &workflow_of_one(node)?)).await
}

async fn version(scene: &Scene) -> Result<Option<String>> {
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    Ok(map.metadata.annotations.unwrap_or_default().get(VERSION).cloned())
}

#[operator_test]
async fn another_version_or_none_makes_one_write() -> Result<()> {
    let scene = Scene::new("api-version").await?;
    let operator = start(&scene, false).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(version(&scene).await?, None, "nobody has asked for it");
    operator.stop().await;

    // Without a version it may have been any.
    let operator = start(&scene, true).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    assert_eq!(version(&scene).await?.as_deref(), Some("v1"));
    scene.set("one", "second").await?;
    let same = operator.settled().await?;
    assert_eq!((same.runs_of(&scene.key("one")), same.written()), (1, Vec::new()), "the matcher decides");

    // As an operator has left it that knew an earlier version.
    let earlier = json!({ "metadata": { "annotations": { VERSION: "v1beta1" } } });
    let maps = scene.api::<ConfigMap>();
    maps.patch("one-a", &PatchParams::default(), &Patch::Merge(earlier)).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    assert_eq!(version(&scene).await?.as_deref(), Some("v1"));
    operator.stop().await;
    let operator = start(&scene, true).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "once");
    Ok(())
}
