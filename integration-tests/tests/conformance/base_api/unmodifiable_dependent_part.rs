//! The desired state may depend on the actual one: a part of a dependent keeps its first value, and the rest follows its primary.

use integration_tests::prelude::*;
use operator_core::Context;

const INITIAL: &str = "initial";
const CURRENT: &str = "current";

fn map(primary: &TestResource, context: &Context<TestResource>) -> Result<ConfigMap, BoxError> {
    let there = context.secondary::<ConfigMap>()?;
    let initial = there.and_then(|map| map.data.as_ref()?.get(INITIAL).cloned());
    let value = &primary.spec.value;
    let data = [(INITIAL, initial.unwrap_or_else(|| value.clone())), (CURRENT, value.clone())];
    Ok(ConfigMap {
        metadata: meta_of(primary, "map"),
        data: Some(data.map(|(key, value)| (key.to_owned(), value)).into()),
        ..ConfigMap::default()
    })
}

async fn data(scene: &Scene) -> Result<[String; 2]> {
    let mut data = scene.api::<ConfigMap>().get("one-map").await?.data.unwrap_or_default();
    Ok([INITIAL, CURRENT].map(|key| data.remove(key).unwrap_or_default()))
}

async fn check(ssa: bool, [create, update]: [&str; 2]) -> Result<()> {
    let scene = Scene::new("unmodifiable-dependent-part").await?;
    let workflow = workflow_of_one(node(map).use_ssa(ssa))?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    assert_eq!(operator.settled().await?.written(), [create]);
    assert_eq!(data(&scene).await?, ["first", "first"]);
    scene.set("one", "second").await?;
    assert_eq!(operator.settled().await?.written(), [update]);
    assert_eq!(data(&scene).await?, ["first", "second"]);

    // What is there counts, whoever wrote it, and after a restart, too.
    operator.stop().await;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    // Its first run is over before the foreign change: one that has already decided what is wanted would write that.
    assert!(operator.settled().await?.written().is_empty(), "nothing has changed");
    let maps = scene.api::<ConfigMap>();
    let foreign = Patch::Merge(json!({ "data": { INITIAL: "theirs", CURRENT: "theirs" } }));
    maps.patch("one-map", &PatchParams::default(), &foreign).await?;
    operator.settled().await?;
    assert_eq!(data(&scene).await?, ["theirs", "second"]);
    maps.delete("one-map", &DeleteParams::default()).await?;
    operator.settled().await?;
    assert_eq!(data(&scene).await?, ["second", "second"], "it is made anew");
    Ok(())
}

#[operator_test]
async fn applied() -> Result<()> {
    check(true, ["PATCH configmaps/one-map -> 201", "PATCH configmaps/one-map -> 200"]).await
}

#[operator_test]
async fn replaced() -> Result<()> {
    check(false, ["POST configmaps/one-map -> 201", "PUT configmaps/one-map -> 200"]).await
}
