//! With a small maximum interval there are more than three runs within 500 ms, without any event.

use std::time::Duration;

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource, eventually};
use operator_core::{
    observe::{Cause, Causes},
    testing::operator_test,
};

const INTERVAL: Duration = Duration::from_millis(50);
const WITHIN: Duration = Duration::from_millis(500);

#[operator_test]
async fn the_interval_alone_causes_run_after_run() -> Result<()> {
    let scene = Scene::new("max-interval").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().max_reconciliation_interval(INTERVAL).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    scene.create("one", "value").await?;
    // On a busy machine any single run may be late, so the quickest four runs in a row count.
    eventually("more than three runs within 500 ms", async || {
        let instants = script.runs.instants("one");
        Ok(instants.windows(4).any(|four| four[3] - four[0] < WITHIN).then_some(()))
    })
    .await?;
    operator.stop().await;

    let runs = script.runs.of("one");
    for pair in runs.windows(2) {
        assert!(pair[1].started - pair[0].started >= INTERVAL, "too early: {runs:?}");
        assert_eq!(pair[1].causes, Causes::from(Cause::MaxInterval), "{runs:?}");
    }
    Ok(())
}
