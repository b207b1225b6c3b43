//! One run in a period: while updates come there is one run in half the period, and there are exactly two after it.

use integration_tests::prelude::*;
use operator_core::{operator::Settling, processor::LinearRateLimiter};

const PERIOD: Duration = Duration::from_secs(4);

#[operator_test]
async fn updates_within_a_period_wait_for_its_end() -> Result<()> {
    let scene = Scene::new("rate-limit").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().rate_limiter(LinearRateLimiter::new(1, PERIOD)?);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    // The period begins with the first admission, which comes after this moment.
    let before = Instant::now();
    scene.create("one", "value").await?;
    for update in 0..5 {
        scene.patch("one", json!({ "spec": { "value": format!("update {update}") } })).await?;
    }
    ensure!(
        before.elapsed() < PERIOD,
        "the machine is too slow for this test: the updates took a whole period"
    );
    let settled =
        operator.settled_as(Settling { no_timer_within: PERIOD * 2, ..Settling::default() }).await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 2);
    let runs = script.runs.instants("one");
    assert!(runs[1] >= before + PERIOD, "the second run came before the end of the period");
    assert!(runs[0] < before + PERIOD, "the first run didn't have to wait");
    Ok(())
}
