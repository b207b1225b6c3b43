//! A dependent that is marked by annotations with keys of the user's own, and not by the default ones.

use integration_tests::prelude::*;
use operator_core::resource::{MappingAnnotations, MarkNames};

#[operator_test]
async fn the_user_s_keys_are_used_and_lead_back_to_the_primary() -> Result<()> {
    let scene = Scene::new("dependent-custom-mapping").await?;
    let keys = MappingAnnotations::new("example.com/of", "example.com/of-namespace");
    let map = wanted_map("a").without_owner().mapping_annotations(keys);
    let operator = scene.start_managed(&Script::idle(), &workflow_of_one(map)?).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let expected = [("example.com/of", "one"), ("example.com/of-namespace", &scene.namespace)];
    let mut annotations = maps.get("one-a").await?.annotations().clone();
    assert!(annotations.remove(MarkNames::default().mark()).is_some(), "which no copy of it has right");
    assert_eq!(annotations, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());

    let patch = Patch::Merge(json!({ "data": { "value": "somebody's" } }));
    maps.patch("one-a", &PatchParams::default(), &patch).await?;
    let restored = operator.settled().await?;
    assert_eq!(restored.runs, [(scene.key("one"), 1)].into());
    scene.until_values([("one-a", "first")]).await?;
    scene.until_nothing_is_left_of("one").await
}
