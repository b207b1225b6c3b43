//! The annotations of a dependent without an owner reference name its primary, and its events find it.

use integration_tests::prelude::*;
use operator_core::resource::MarkNames;

#[operator_test]
async fn the_default_annotations_are_set_and_lead_back_to_the_primary() -> Result<()> {
    let scene = Scene::new("dependent-annotation-mapper").await?;
    let workflow = workflow_of_one(wanted_map("a").without_owner())?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let map = maps.get("one-a").await?;
    assert!(map.owner_references().is_empty());
    let expected = [
        ("io.javaoperatorsdk/primary-name", "one"),
        ("io.javaoperatorsdk/primary-namespace", &scene.namespace),
        ("io.javaoperatorsdk/primary-type", "conformance.operator-core.io/v1/TestResource"),
    ];
    let mut annotations = map.annotations().clone();
    assert!(annotations.remove(MarkNames::default().mark()).is_some(), "which no copy of it has right");
    assert_eq!(annotations, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());

    let patch = Patch::Merge(json!({ "data": { "value": "somebody's" } }));
    maps.patch("one-a", &PatchParams::default(), &patch).await?;
    let restored = operator.settled().await?;
    assert_eq!(restored.runs, [(scene.key("one"), 1)].into());
    scene.until_values([("one-a", "first")]).await?;
    scene.until_nothing_is_left_of("one").await
}
