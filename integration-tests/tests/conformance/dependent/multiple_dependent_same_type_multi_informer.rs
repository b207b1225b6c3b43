//! Two dependents of one type, each of which watches by an informer of its own.

use integration_tests::prelude::*;

#[operator_test]
async fn each_has_an_informer_called_like_itself() -> Result<()> {
    let scene = Scene::new("multi-informer").await?;
    let dependents = ["a", "b"].map(|name| wanted_map(name).informer(InformerEventSource::new()));
    let workflow = workflow_of(dependents)?;
    let script = Script::new(|_, _, context| {
        Box::pin(async {
            assert!(["a", "b"].iter().all(|name| context.event_source::<ConfigMap>(name).is_some()));
            assert!(context.event_source::<ConfigMap>("ConfigMap").is_none());
            Ok(UpdateControl::no_update())
        })
    });
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.two_maps_come_change_and_go().await?;
    operator.settled().await?;
    Ok(())
}
