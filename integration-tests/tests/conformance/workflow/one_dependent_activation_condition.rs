//! A workflow whose only node is inactive ends, and the reconciler runs.

use integration_tests::prelude::*;

#[operator_test]
async fn the_reconciler_runs() -> Result<()> {
    let scene = Scene::new("one-dependent-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let workflow = Workflow::builder().nodes((Child("child").node().needs(Switch::off()),)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!((script.runs.count(), settled.written().len()), (1, 0));
    assert_eq!(outcomes.lines("one"), ["child: inactive: its condition is not met"]);
    Ok(())
}
