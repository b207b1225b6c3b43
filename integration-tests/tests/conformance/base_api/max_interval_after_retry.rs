//! The maximum interval keeps firing after the retries are exhausted: there are more than five runs within 1 s, though each
//! of them fails.

use anyhow::anyhow;
use integration_tests::prelude::*;
use operator_core::observe::{Cause, Causes};

const INTERVAL: Duration = Duration::from_millis(50);
const WITHIN: Duration = Duration::from_secs(1);

#[operator_test]
async fn the_interval_goes_on_after_the_last_retry() -> Result<()> {
    let scene = Scene::new("max-interval-after-retry").await?;
    scene.failures.expect("failure");
    let script = Script::new(|run, _: Arc<TestResource>, _| {
        Box::pin(async move { Err::<UpdateControl<_>, _>(anyhow!("failure {run}")) })
    });
    let controller = script
        .controller()
        .retry(GenericRetry::linear(Duration::from_millis(10), 1)?)
        .max_reconciliation_interval(INTERVAL)
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    scene.create("one", "value").await?;
    // On a busy machine any single run may be late, so the quickest six runs in a row count.
    eventually("more than five runs within 1 s after the retries", async || {
        let instants = script.runs.instants("one");
        let after_retries = instants.get(2..).unwrap_or_default();
        Ok(after_retries.windows(6).any(|six| six[5] - six[0] < WITHIN).then_some(()))
    })
    .await?;
    operator.stop().await;

    let runs = script.runs.of("one");
    assert_eq!(runs[1].causes, Causes::from(Cause::Retry));
    for pair in runs[1..].windows(2) {
        assert!(pair[1].started - pair[0].started >= INTERVAL, "too early: {runs:?}");
        assert_eq!(pair[1].causes, Causes::from(Cause::MaxInterval), "{runs:?}");
    }
    Ok(())
}
