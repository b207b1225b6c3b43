//! From the first object to the last.

use integration_tests::prelude::*;

use super::{addon, done};

const KINDS: &str = "operator-core.io/kinds";

async fn kinds(scene: &Scene<TestResource>) -> Result<String> {
    let primary = scene.resources.get("one").await?;
    Ok(primary.annotations().get(KINDS).cloned().unwrap_or_default())
}

#[operator_test]
async fn a_set_comes_is_repaired_changes_and_goes() -> Result<()> {
    let scene = Scene::new("bundles-life").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((addon,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;

    scene.create("one", "c1 c2 s1").await?;
    let settled = operator.settled().await?;
    let expected = [
        "PATCH configmaps/c1 -> 201",
        "PATCH configmaps/c2 -> 201",
        "PATCH secrets/s1 -> 201",
        "PATCH testresources/one -> 200",
        "PATCH testresources/one -> 200",
    ];
    assert_eq!(done(&settled), expected, "the finalizer, the kinds, and each object once");
    assert_eq!(kinds(&scene).await?, r#"{"script/addon":["ConfigMap","Secret"]}"#);
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));

    let maps = scene.api::<ConfigMap>();
    let other = json!({ "metadata": { "annotations": { "length": "100" } } });
    maps.patch("c1", &PatchParams::default(), &Patch::Merge(other)).await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/c1 -> 200"]);
    maps.delete("c2", &Default::default()).await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/c2 -> 201"]);

    scene.patch("one", json!({ "spec": { "value": "c1 x1" } })).await?;
    let expected = [
        "DELETE configmaps/c2 -> 200",
        "DELETE secrets/s1 -> 200",
        "PATCH services/x1 -> 201",
        "PATCH testresources/one -> 200",
        "PATCH testresources/one -> 200",
    ];
    assert_eq!(done(&operator.settled().await?), expected, "a kind comes and a kind goes");
    assert_eq!(kinds(&scene).await?, r#"{"script/addon":["ConfigMap","Service"]}"#);

    operator.stop().await;
    let operator = scene.start(controller()).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty(), "{:?}", settled.requests);
    assert_eq!(settled.runs_of(&scene.key("one")), 1);

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let left = maps.list(&Default::default()).await?.items;
    assert!(left.iter().all(|map| map.name_any() != "c1"), "{left:?}");
    Ok(())
}
