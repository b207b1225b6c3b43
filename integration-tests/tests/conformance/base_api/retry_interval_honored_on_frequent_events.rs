//! With a retry interval of 60 s, five updates that each lead to a failing run use up no attempt: there are six runs, and
//! none of them sees an attempt beyond the first.

use anyhow::anyhow;
use integration_tests::prelude::*;
use operator_core::observe::Cause;

const INTERVAL: Duration = Duration::from_secs(60);

#[operator_test]
async fn events_use_up_no_attempts() -> Result<()> {
    let scene = Scene::new("retry-interval-honored").await?;
    scene.failures.expect("failure");
    let script = Script::new(|run, _: Arc<TestResource>, _| {
        Box::pin(async move { Err::<UpdateControl<_>, _>(anyhow!("failure {run}")) })
    });
    let controller = script.controller().retry(GenericRetry::linear(INTERVAL, 10)?);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    for update in 1..=5 {
        scene.patch("one", json!({ "spec": { "value": format!("update {update}") } })).await?;
        let settled = operator.settled().await?;
        assert_eq!(settled.runs_of(&scene.key("one")), 1, "update {update}");
    }
    let runs = script.runs.of("one");
    let attempts: Vec<Option<u32>> = runs.iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None, Some(1), Some(1), Some(1), Some(1), Some(1)]);
    assert!(runs.iter().all(|run| !run.causes.contains(Cause::Retry)), "too early: {runs:?}");
    Ok(())
}
