//! The config map and the status are created, a change of metadata alone is skipped, and the clean-up is executed.

use integration_tests::prelude::*;

/// Keeps a config map with the value of its primary's spec, and reports this in the status.
fn sample() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            context.resource_operations().server_side_apply(&map).await?;
            Ok(Said::status(said("config map is there")))
        })
    })
}

#[operator_test]
async fn config_map_status_and_clean_up() -> Result<()> {
    let scene = Scene::new("reconciler-executor").await?;
    let sample = sample();
    let controller = sample.controller().cleaner(true).owns::<ConfigMap>();
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "first").await?;
    scene
        .until("the status", "one", |one| one.status.as_ref().is_some_and(|status| status.message.is_some()))
        .await?;
    let map: ConfigMap = scene.api().get("one").await?;
    assert_eq!(map.data.expect("data")["value"], "first");
    let first = operator.settled().await?;
    assert_eq!(first.runs_of(&scene.key("one")), 1, "own writes cause no run");
    // One write for the finalizer, one for the child, one for the status, and no reads.
    assert_eq!(
        first.requests.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "PATCH testresources/one -> 200",
            "PATCH configmaps/one -> 201",
            "PATCH testresources/one/status -> 200"
        ]
    );

    scene.patch("one", json!({ "metadata": { "labels": { "only": "metadata" } } })).await?;
    let second = operator.settled().await?;
    assert_eq!(second.runs_of(&scene.key("one")), 0, "a change of metadata is skipped");
    assert_eq!(second.written(), [""; 0]);

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert_eq!(sample.cleanups.count(), 1);
    operator.settled().await?;
    assert_eq!(sample.runs.count(), 1);
    Ok(())
}
