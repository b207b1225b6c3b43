//! A counter in the status, read from the cache and written back by each run, only ever grows by one.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource, TestStatus};
use operator_core::{UpdateControl, testing::operator_test};
use parking_lot::Mutex;

const RUNS: usize = 15;

#[operator_test]
async fn each_run_sees_what_the_one_before_it_wrote() -> Result<()> {
    let scene = Scene::new("status-patch-cache").await?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let seen = Arc::clone(&seen);
        move |run, primary: Arc<TestResource>, _| {
            let counter = primary.status.as_ref().and_then(|status| status.observed_generation).unwrap_or(0);
            seen.lock().push(counter);
            let observed_generation = Some(counter + 1);
            let control =
                UpdateControl::patch_status(TestStatus { observed_generation, ..TestStatus::default() });
            Box::pin(async move { Ok(if run < RUNS { control.reschedule() } else { control }) })
        }
    });
    let operator = scene.start_script(&script).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(*seen.lock(), (0..).take(RUNS).collect::<Vec<i64>>(), "strictly one by one");
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"; RUNS]);
    Ok(())
}
