//! If primaries refer to secondaries and the controller doesn't know how, a secondary that existed before its primary is
//! not found among the primary's own; a direct look into the cache finds it.

use integration_tests::prelude::*;
use operator_core::{Context, operations};

const BY_MAP: &str = "config-map";

type Found = Result<Option<Arc<ConfigMap>>, operations::Error>;

/// The result of a run by `look`, when the config map existed before the primary that names it.
async fn found(look: fn(&TestResource, &Context<TestResource>) -> Found) -> Result<String> {
    let scene = Scene::new("primary-to-secondary-missing").await?;
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let found = look(&primary, context);
        Box::pin(async move {
            let message = Some(found?.map_or("nothing".to_owned(), |map| map.name_any()));
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let source = InformerEventSource::<ConfigMap>::new()
        .map_to_primary_with(|map, primaries| primaries.by_index(BY_MAP, &map.name_any()));
    let controller = script
        .controller()
        .index(BY_MAP, |primary: &TestResource| vec![primary.spec.value.clone()])
        .watches(source);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    let map = integration_tests::from_json(&json!({ "metadata": { "name": "map" } }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    operator.settled().await?;
    scene.create("one", "map").await?;
    operator.settled().await?;
    Ok(scene.resources.get("one").await?.status.and_then(|status| status.message).unwrap_or_default())
}

#[operator_test]
async fn it_is_not_among_the_primarys_own() -> Result<()> {
    assert_eq!(found(|_, context| context.secondary::<ConfigMap>()).await?, "nothing");
    Ok(())
}

#[operator_test]
async fn a_direct_look_into_the_cache_finds_it() -> Result<()> {
    let look = |primary: &TestResource, context: &Context<TestResource>| {
        let namespace = primary.namespace().unwrap_or_default();
        context.get::<ConfigMap>(&operator_core::ObjectKey::namespaced(&namespace, &primary.spec.value))
    };
    assert_eq!(found(look).await?, "map");
    Ok(())
}
