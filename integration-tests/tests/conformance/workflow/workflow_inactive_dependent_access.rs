//! Reading the type of an inactive node returns nothing, and isn't an error.

use integration_tests::prelude::*;

#[operator_test]
async fn the_type_of_an_inactive_node_reads_as_empty() -> Result<()> {
    let scene = Scene::new("inactive-dependent-access").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let maps = context.secondaries::<ConfigMap>()?.len();
            let source = context.event_source::<ConfigMap>("ConfigMap").is_some();
            let message = Some(format!("{maps} maps, a source: {source}"));
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let workflow = Workflow::builder().nodes((Child("child").node().needs(Switch::off()),)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    assert_eq!(status.message.as_deref(), Some("0 maps, a source: false"));
    Ok(())
}
