//! A precondition that is not met above an inactive node: neither is created, and nothing fails.

use integration_tests::prelude::*;

#[operator_test]
async fn neither_is_created() -> Result<()> {
    let scene = Scene::new("precondition-and-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let above = Child("above").only_if(|_| false);
    let below = Child("below").node().after(&above).needs(Switch::off());
    let workflow = Workflow::builder().nodes((above, below)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), [""; 0]);
    assert_eq!(outcomes.lines("one"), ["above: deleted", "below: inactive: its condition is not met"]);
    assert_eq!(script.runs.count(), 1, "nothing is retried");
    Ok(())
}
