//! Finalizers that others remove, or that belong to others.

use integration_tests::prelude::*;

#[operator_test]
async fn f32_a_finalizer_that_others_remove_during_the_clean_up_is_no_error() -> Result<()> {
    let scene = Scene::new("f32").await?;
    let gate = Gate::new();
    let passed = gate.clone();
    let script = Script::<TestResource>::idle().cleanup(move |_, _, _| {
        let gate = passed.clone();
        Box::pin(async move {
            gate.pass().await;
            Ok(Removal::Done)
        })
    });
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    gate.arrived().await?;
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    gate.let_through(1);
    let settled = operator.settled().await?;
    assert_eq!(script.cleanups.count(), 1, "the clean-up isn't repeated");
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "and no run fails");
    Ok(())
}

#[operator_test]
async fn f32_a_foreign_finalizer_keeps_the_object_and_not_the_operator() -> Result<()> {
    let scene = Scene::new("f32-foreign").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let mut one = scene.create("one", "first").await?;
    operator.settled().await?;
    one = scene.resources.get(&one.name_any()).await?;
    let mut finalizers = one.finalizers().to_vec();
    finalizers.push("example.com/foreign".to_owned());
    scene.patch("one", json!({ "metadata": { "finalizers": finalizers } })).await?;
    scene.delete("one").await?;
    let left = |one: &TestResource| one.finalizers() == ["example.com/foreign"];
    scene.until("our finalizer to be gone", "one", left).await?;
    operator.settled().await?;
    let cleanups = script.cleanups.count();
    assert_eq!(cleanups, 1);
    // What others do with the object now is theirs.
    scene.patch("one", json!({ "metadata": { "labels": { "by": "others" } } })).await?;
    let settled = operator.settled().await?;
    assert_eq!((settled.written(), script.cleanups.count()), (Vec::new(), cleanups));
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    Ok(())
}
