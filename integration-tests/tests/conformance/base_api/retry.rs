//! A run that fails is retried after 150 ms, at most five times; the first three fail: there are exactly four runs, and
//! the status says success.

use integration_tests::prelude::*;
use operator_core::observe::{Cause, Observation, Observer};

const DELAY: Duration = Duration::from_millis(150);
const FAILURES: usize = 3;

/// Records the announced retries, and their delays.
#[derive(Debug, Default)]
struct Announced(Mutex<Vec<(u32, Duration)>>);

impl Observer for Announced {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RetryScheduled { attempt, after, .. } = observation {
            self.0.lock().push((attempt.unwrap_or_default(), *after));
        }
    }
}

#[operator_test]
async fn three_failures_and_a_success_are_four_runs_with_the_delay_between_them() -> Result<()> {
    let scene = Scene::new("retry").await?;
    scene.failures.expect("failure");
    let script = Script::new(|run, _: Arc<TestResource>, context| {
        Box::pin(async move {
            if run <= FAILURES {
                bail!("failure {run}");
            }
            assert!(context.retry_info().is_some_and(|retry| !retry.last_attempt), "two attempts are left");
            let message = Some("SUCCESS".to_owned());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let announced = Arc::new(Announced::default());
    let controller =
        script.controller().retry(GenericRetry::linear(DELAY, 5)?).namespaces([&scene.namespace]);
    let operator = TestOperator::start(
        scene.operator().observer(Arc::clone(&announced) as Arc<dyn Observer>).register(controller),
    )
    .await?;

    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 4);
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    assert_eq!(status.message.as_deref(), Some("SUCCESS"));

    let runs = script.runs.of("one");
    assert_eq!(runs.iter().map(|run| run.attempt).collect::<Vec<_>>(), [None, Some(1), Some(2), Some(3)]);
    assert!(runs[1..].iter().all(|run| run.causes.contains(Cause::Retry)), "{runs:?}");
    assert_eq!(*announced.0.lock(), [(1, DELAY), (2, DELAY), (3, DELAY)]);
    let gaps: Vec<Duration> = runs.windows(2).map(|pair| pair[1].started - pair[0].started).collect();
    assert!(gaps.iter().all(|gap| *gap >= DELAY), "too early: {gaps:?}");
    // Any single run may be late on a busy machine. That all of them are would be the timer's fault.
    assert!(gaps.iter().min() < Some(&(DELAY * 4)), "too late: {gaps:?}");
    Ok(())
}
