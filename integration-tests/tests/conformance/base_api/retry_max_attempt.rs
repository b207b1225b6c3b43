//! A run that always fails is retried at most three times: there are exactly four runs.

use anyhow::anyhow;
use integration_tests::prelude::*;

const DELAY: Duration = Duration::from_millis(100);

#[operator_test]
async fn three_retries_and_no_more() -> Result<()> {
    let scene = Scene::new("retry-max-attempt").await?;
    scene.failures.expect("failure");
    let last_attempts = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let last_attempts = Arc::clone(&last_attempts);
        move |run, _: Arc<TestResource>, context| {
            last_attempts.lock().push(context.retry_info().is_some_and(|retry| retry.last_attempt));
            Box::pin(async move { Err::<UpdateControl<_>, _>(anyhow!("failure {run}")) })
        }
    });
    let controller = script.controller().retry(GenericRetry::linear(DELAY, 3)?);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 4);
    let runs = script.runs.of("one");
    assert_eq!(runs.iter().map(|run| run.attempt).collect::<Vec<_>>(), [None, Some(1), Some(2), Some(3)]);
    assert_eq!(*last_attempts.lock(), [false, false, false, true]);
    let gaps: Vec<Duration> = runs.windows(2).map(|pair| pair[1].started - pair[0].started).collect();
    assert!(gaps.iter().all(|gap| *gap >= DELAY), "too early: {gaps:?}");
    Ok(())
}
