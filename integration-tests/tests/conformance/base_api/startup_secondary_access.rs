//! 200 config maps exist before the operator: the first run sees all of them.

use futures::{StreamExt, TryStreamExt, stream};
use integration_tests::prelude::*;

const MAPS: usize = 200;
const BELONGS_TO: &str = "belongs-to";

#[operator_test]
async fn the_first_run_sees_everything() -> Result<()> {
    let scene = Scene::new("startup-secondary-access").await?;
    scene.create("one", "value").await?;
    let api = scene.api::<ConfigMap>();
    let created = stream::iter(0..MAPS).map(|number| {
        let labels = json!({ BELONGS_TO: "one" });
        let map = json!({ "metadata": { "name": format!("map-{number}"), "labels": labels } });
        let api = api.clone();
        async move {
            let map = integration_tests::from_json(&map)?;
            anyhow::Ok(api.create(&PostParams::default(), &map).await?)
        }
    });
    created.buffer_unordered(20).try_collect::<Vec<_>>().await?;

    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let seen = context.secondaries::<ConfigMap>()?.len();
            ensure!(seen == MAPS, "only {seen} were seen");
            Ok(Said::status(TestStatus { message: Some(seen.to_string()), ..TestStatus::default() }))
        })
    });
    let source = InformerEventSource::<ConfigMap>::new().label_selector(BELONGS_TO).map_to_primary(|map| {
        let namespace = map.namespace().unwrap_or_default();
        map.labels().get(BELONGS_TO).map(|name| ObjectKey::namespaced(&namespace, name)).into_iter().collect()
    });
    let controller = script.controller().watches(source);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 1, "the first run is the only one");
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    assert_eq!(status.message, Some(MAPS.to_string()));
    Ok(())
}
