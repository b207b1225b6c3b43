//! A ready condition over all objects of a bulk dependent: the status says so once all of them exist.

use integration_tests::prelude::*;
use operator_core::{Context, Verdict, Wire as _};

/// Met when all that should exist do.
fn is_complete(primary: &TestResource, context: &Context<TestResource>) -> Result<Verdict, BoxError> {
    let there = context.secondaries::<ConfigMap>()?.len();
    let (wanted, _) = count_and_value(&primary.spec.value);
    Ok(Verdict::when(there == wanted, format!("{there} of {wanted} exist")))
}

#[operator_test]
async fn the_status_is_ready_once_all_config_maps_exist() -> Result<()> {
    let scene = Scene::new("bulk-dependent-with-condition").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async {
            let run = context.so_far()?;
            anyhow::ensure!(run.state(counted_maps).is_some(), "the workflow has run before");
            let message = if run.all_ready() { "ready".to_owned() } else { run.to_string() };
            Ok(Said::status(said(message)))
        })
    });
    let node = counted_maps.ready(is_complete);
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let _operator = scene.start_managed(&script, &workflow).await?;
    scene.create("one", "5 first").await?;
    let ready = TestStatus { message: Some("ready".to_owned()), ..TestStatus::default() };
    scene.until("the status to be ready", "one", |one| one.status.as_ref() == Some(&ready)).await?;
    assert_eq!(scene.values().await?.len(), 5);
    Ok(())
}
