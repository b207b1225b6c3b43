//! A node is created after the one that it depends on.

use integration_tests::prelude::*;

#[operator_test]
async fn the_order_is_that_of_the_dependencies() -> Result<()> {
    let scene = Scene::new("ordered-managed-dependent").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let first = Child("first").node();
    let workflow = Workflow::builder().nodes((Child("second").node().after(&first), first)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let created = operator.settled().await?;
    let expected = ["PATCH configmaps/one-first -> 201", "PATCH configmaps/one-second -> 201"];
    assert_eq!(created.written(), expected, "and no finalizer: the cluster collects them");
    assert_eq!(outcomes.lines("one"), ["second: created", "first: created"]);
    assert_eq!(script.runs.count(), 1, "own writes cause no run");
    Ok(())
}
