//! With a small maximum interval there are more than three runs within 500 ms, without any event.

use integration_tests::prelude::*;
use operator_core::observe::{Cause, Causes};

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

    // Exactly the interval, and never less: in tests there is no jitter that nobody has asked for.
    let runs = script.runs.of("one");
    for pair in runs.windows(2) {
        assert!(pair[1].started - pair[0].started >= INTERVAL, "too early: {runs:?}");
        assert_eq!(pair[1].causes, Causes::from(Cause::MaxInterval), "{runs:?}");
    }
    Ok(())
}

/// With a jitter each run comes at some moment in the last part of the interval.
#[operator_test]
async fn the_interval_is_spread_to_the_front() -> Result<()> {
    const INTERVAL: Duration = Duration::from_millis(300);
    let scene = Scene::new("max-interval-jitter").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().max_reconciliation_interval(INTERVAL).jitter(0.5);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let gaps = eventually("two runs that came before the whole interval was over", async || {
        let instants = script.runs.instants("one");
        let gaps: Vec<Duration> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        Ok((gaps.iter().filter(|gap| **gap < INTERVAL).count() > 1).then_some(gaps))
    })
    .await?;
    operator.stop().await;
    assert!(
        gaps.iter().all(|gap| *gap >= INTERVAL / 2),
        "none of them comes earlier than asked for: {gaps:?}"
    );
    Ok(())
}
