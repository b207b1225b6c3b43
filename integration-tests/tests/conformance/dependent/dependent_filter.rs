//! A filter on a dependent's informer: an update that doesn't pass causes no run.

use integration_tests::prelude::*;

#[operator_test]
async fn an_update_that_does_not_pass_causes_no_run() -> Result<()> {
    let scene = Scene::new("dependent-filter").await?;
    let unless_ignored = |new: &ConfigMap, _: &ConfigMap| {
        new.data.as_ref().and_then(|data| data.get("value")).is_none_or(|value| value != "ignored")
    };
    let map = wanted_map("a").informer(InformerEventSource::new().on_update(unless_ignored));
    let operator = scene.start_managed(&Script::idle(), &workflow_of_one(map)?).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let set = async |value: &str| {
        let patch = Patch::Merge(json!({ "data": { "value": value } }));
        scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &patch).await?;
        anyhow::Ok(operator.settled().await?.runs_of(&scene.key("one")))
    };
    assert_eq!(set("ignored").await?, 0);
    assert_eq!(set("seen").await?, 1);
    scene.until_values([("one-a", "first")]).await
}
