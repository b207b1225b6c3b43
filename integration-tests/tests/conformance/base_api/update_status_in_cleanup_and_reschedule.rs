//! A clean-up that writes the status and asks to be called again meets no conflict, and comes to its end.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource, said};
use operator_core::{Controller, DeleteControl, testing::operator_test};

#[operator_test]
async fn the_clean_up_ends() -> Result<()> {
    let scene = Scene::new("cleanup-and-reschedule").await?;
    let script = Script::idle().cleanup(|call, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if call > 4 {
                return Ok(DeleteControl::default_delete());
            }
            let mut desired = (*primary).clone();
            desired.status = Some(said(format!("clean-up {call}")));
            context.resource_operations().server_side_apply_status(&desired).await?;
            Ok(DeleteControl::no_finalizer_removal_before(Duration::from_millis(50)))
        })
    });
    let controller = Controller::builder(script.clone()).with_cleaner().namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(script.cleanups.count(), 5);
    assert_eq!(script.cleanups.of("one").iter().filter_map(|run| run.attempt).count(), 0, "no retry");
    assert_eq!(settled.writes().filter(|write| write.code != Some(200)).count(), 0, "no conflict");
    Ok(())
}
