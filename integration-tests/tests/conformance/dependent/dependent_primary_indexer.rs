//! A dependent that is only read, whose informer finds the primaries by an index over them.

use integration_tests::prelude::*;
use operator_core::dependent::Read;

const BY_MAP: &str = "config-map";

/// Others make it.
fn map(_: &TestResource) -> Read<ConfigMap> {
    Read::only()
}

#[operator_test]
async fn a_secondary_wakes_the_primaries_that_name_it_and_is_their_dependent() -> Result<()> {
    let scene = Scene::new("dependent-primary-indexer").await?;
    let source = InformerEventSource::<ConfigMap>::new()
        .map_to_primary_with(|map, primaries| primaries.by_index(BY_MAP, &map.name_any()));
    let workflow = workflow_of_one(node(map).informer(source))?;
    let script = Script::new(|number, _, context| {
        Box::pin(async move {
            let run = context.so_far()?;
            anyhow::ensure!(run.state(map).is_some(), "the workflow has run");
            let map = run.get(map);
            assert_eq!(map.map(|map| map.name_any()), (number > 1).then(|| "shared".to_owned()));
            Ok(UpdateControl::no_update())
        })
    });
    let controller = scene
        .managed(&script, &workflow)
        .index(BY_MAP, |primary: &TestResource| vec![primary.spec.value.clone()]);
    let operator = scene.start(controller).await?;
    for (name, map) in [("one", "shared"), ("two", "shared"), ("three", "another")] {
        scene.create(name, map).await?;
    }
    operator.settled().await?;
    let map = integration_tests::from_json(&json!({ "metadata": { "name": "shared" } }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    let created = operator.settled().await?;
    assert_eq!(created.runs, [(scene.key("one"), 1), (scene.key("two"), 1)].into());
    assert_eq!(created.written(), [""; 0]);
    Ok(())
}
