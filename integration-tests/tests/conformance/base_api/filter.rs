//! An update of the primary and an update of a secondary that don't pass their filters cause no run.

use integration_tests::prelude::*;

const FILTERED: &str = "filtered";

/// Creates a config map at its first run, and leaves it alone from then on.
async fn start(scene: &Scene) -> Result<TestOperator> {
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if context.secondary::<ConfigMap>()?.is_none() {
                context.resource_operations().create(&config_map(&*primary, context, "value")).await?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let source = InformerEventSource::<ConfigMap>::new().on_update(|new, _| value_of(new) != Some(FILTERED));
    let controller =
        script.controller().on_update(|new: &TestResource, _| new.spec.value != FILTERED).watches(source);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "value").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    Ok(operator)
}

#[operator_test]
async fn a_filtered_update_of_the_primary_causes_no_run() -> Result<()> {
    let scene = Scene::new("filter").await?;
    let operator = start(&scene).await?;
    scene.patch("one", json!({ "spec": { "value": FILTERED } })).await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 0);
    scene.patch("one", json!({ "spec": { "value": "another" } })).await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    Ok(())
}

#[operator_test]
async fn a_filtered_update_of_a_secondary_causes_no_run() -> Result<()> {
    let scene = Scene::new("filter").await?;
    let operator = start(&scene).await?;
    for (value, runs) in [(FILTERED, 0), ("another", 1)] {
        let patch = Patch::Merge(json!({ "data": { "value": value } }));
        scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &patch).await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), runs, "{value}");
    }
    Ok(())
}
