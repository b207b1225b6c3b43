//! The operator's own write of a secondary causes no run.

use integration_tests::prelude::*;

#[operator_test]
async fn only_others_wake_the_primary_of_a_secondary() -> Result<()> {
    let scene = Scene::new("own-secondary-update").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            // Two writes of different content in one run: neither of them wakes the primary again.
            for value in ["on its way", &primary.spec.value] {
                let map = config_map(&*primary, context, value);
                context.resource_operations().server_side_apply(&map).await?;
                let seen = context.secondary::<ConfigMap>()?;
                anyhow::ensure!(
                    seen.as_deref().and_then(value_of) == Some(value),
                    "own writes are read back"
                );
            }
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let key = scene.key("one");

    scene.create("one", "first").await?;
    let created = operator.settled().await?;
    assert_eq!(created.runs_of(&key), 1, "own creation and update");
    assert_eq!(created.written(), ["PATCH configmaps/one -> 201", "PATCH configmaps/one -> 200"]);

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let updated = operator.settled().await?;
    assert_eq!(updated.runs_of(&key), 1, "own updates");
    assert_eq!(updated.written(), ["PATCH configmaps/one -> 200"; 2]);

    let foreign = json!({ "metadata": { "labels": { "by": "others" } } });
    scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &Patch::Merge(foreign)).await?;
    let woken = operator.settled().await?;
    assert_eq!(woken.runs_of(&key), 1, "a foreign update, and own ones after it");
    Ok(())
}
