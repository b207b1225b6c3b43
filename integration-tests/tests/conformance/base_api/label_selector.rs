//! Only the resources that have the label are reconciled.

use integration_tests::prelude::*;

#[operator_test]
async fn only_labelled_resources_are_reconciled() -> Result<()> {
    let scene = Scene::new("label-selector").await?;
    let script = Script::<TestResource>::idle();
    let labelled = |value: &str| json!({ "metadata": { "labels": { "app": value } } });
    let controller = script.controller().label_selector("app=mine").namespaces([&scene.namespace]);
    scene.create("before", "value").await?;
    scene.patch("before", labelled("mine")).await?;
    scene.create("others-before", "value").await?;
    let operator = scene.start(controller).await?;
    let started = operator.settled().await?;
    assert_eq!(started.runs.into_keys().collect::<Vec<_>>(), [scene.key("before")]);

    scene.create("without", "value").await?;
    scene.create("others", "value").await?;
    scene.patch("others", labelled("others")).await?;
    let mut mine = <TestResource as integration_tests::TestObject>::named("mine", "value");
    mine.metadata.labels = Some([("app".to_owned(), "mine".to_owned())].into());
    scene.resources.create(&kube::api::PostParams::default(), &mine).await?;
    let created = operator.settled().await?;
    assert_eq!(created.runs.into_iter().collect::<Vec<_>>(), [(scene.key("mine"), 1)]);

    // Who gets the label appears, and who loses it is gone, as far as this controller is concerned.
    scene.patch("without", labelled("mine")).await?;
    scene.patch("mine", labelled("others")).await?;
    let moved = operator.settled().await?;
    assert_eq!(moved.runs.into_iter().collect::<Vec<_>>(), [(scene.key("without"), 1)]);
    scene.patch("mine", json!({ "spec": { "value": "changed" } })).await?;
    scene.patch("without", json!({ "spec": { "value": "changed" } })).await?;
    let changed = operator.settled().await?;
    assert_eq!(changed.runs.into_iter().collect::<Vec<_>>(), [(scene.key("without"), 1)]);
    Ok(())
}
