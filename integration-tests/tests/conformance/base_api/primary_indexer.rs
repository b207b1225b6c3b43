//! An index over the primaries maps a secondary to the primaries that name it.

use integration_tests::prelude::*;

const BY_MAP: &str = "config-map";

#[operator_test]
async fn a_secondary_wakes_the_primaries_found_by_the_index() -> Result<()> {
    let scene = Scene::new("primary-indexer").await?;
    let named_alike = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let named_alike = Arc::clone(&named_alike);
        move |_, primary: Arc<TestResource>, context| {
            let found = context.primary_cache().by_index(BY_MAP, &primary.spec.value);
            *named_alike.lock() = found.iter().map(|primary| primary.name_any()).collect();
            Box::pin(async { Ok(UpdateControl::no_update()) })
        }
    });
    let source = InformerEventSource::<ConfigMap>::new()
        .map_to_primary_with(|map, primaries| primaries.by_index(BY_MAP, &map.name_any()));
    let controller = script
        .controller()
        .index(BY_MAP, |primary: &TestResource| vec![primary.spec.value.clone()])
        .watches(source);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    for (name, map) in [("one", "shared"), ("two", "shared"), ("three", "another")] {
        scene.create(name, map).await?;
    }
    operator.settled().await?;
    let map = integration_tests::from_json(&json!({ "metadata": { "name": "shared" } }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    let created = operator.settled().await?;
    assert_eq!(created.runs, [(scene.key("one"), 1), (scene.key("two"), 1)].into());
    assert_eq!(*named_alike.lock(), ["one", "two"]);

    // The index follows the primaries.
    scene.patch("two", json!({ "spec": { "value": "another" } })).await?;
    operator.settled().await?;
    let patch = Patch::Merge(json!({ "data": { "a": "change" } }));
    scene.api::<ConfigMap>().patch("shared", &PatchParams::default(), &patch).await?;
    // The map still belongs to whom it belonged to before, once more.
    let changed = operator.settled().await?;
    assert_eq!(changed.runs, [(scene.key("one"), 1), (scene.key("two"), 1)].into());
    scene
        .api::<ConfigMap>()
        .patch("shared", &PatchParams::default(), &Patch::Merge(json!({ "data": { "a": "more" } })))
        .await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("one"), 1)].into());
    Ok(())
}
