//! A status function that is wrong, or is not the only one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::{Result, bail};
use integration_tests::{Scene, Script, TestResource, TestStatus, said};
use operator_core::{ErrorStatusUpdateControl, Run, UpdateControl, testing::operator_test};
use serde_json::json;

use super::{retries, status, told_now};

#[operator_test]
async fn a_status_function_that_panics_fails_its_run_which_is_retried() -> Result<()> {
    let scene = Scene::new("status-panics").await?;
    scene.failures.expect("the status function panicked: no status");
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let status = move |one: &TestResource, run: &Run<TestResource>| {
        assert!(counted.fetch_add(1, Ordering::SeqCst) > 1, "no status");
        status(one, run)
    };
    let script = Script::idle();
    let operator = scene.start(scene.controller(&script).status(status).retry(retries(5)?)).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 3);
    assert_eq!(calls.load(Ordering::SeqCst), 3, "once for each run");
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    let attempts: Vec<_> = script.runs.of("one").iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None, Some(1), Some(2)]);
    Ok(())
}

#[operator_test]
async fn a_status_that_is_refused_fails_a_run_that_has_succeeded() -> Result<()> {
    let scene = Scene::new("status-refused").await?;
    scene.failures.expect("status");
    let status = |_: &TestResource, _: &Run<TestResource>| json!({ "conditions": [{ "status": "Perhaps" }] });
    let operator = scene.start(scene.controller(&Script::idle()).status(status)).await?;
    scene.create("one", "value").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1, "only another status helps");
    assert!(scene.resources.get("one").await?.status.is_none());
    Ok(())
}

#[operator_test]
async fn a_reconciler_that_answers_with_a_status_as_well_fails_its_run() -> Result<()> {
    let scene = Scene::new("status-twice").await?;
    scene.failures.expect("`reconcile` answered with a status, and the controller has `.status(…)`");
    let script =
        Script::new(|_, _, _| Box::pin(async { Ok(UpdateControl::patch_status(said("by the reconciler"))) }));
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "only other code helps");
    let told = told_now(&scene).await?;
    let words = "Stalled True Failed `reconcile` answered with a status, and the controller has `.status(…)`, which writes it; \
                 leave one of them out";
    assert_eq!(told.last().map(String::as_str), Some(words));
    let written = scene.resources.get("one").await?.status.unwrap_or_default().message;
    assert_eq!(written.as_deref(), Some("value"), "that of the function");
    Ok(())
}

#[operator_test]
async fn an_error_status_as_well_is_no_different() -> Result<()> {
    let scene = Scene::new("status-error-twice").await?;
    scene.failures.expect("`update_error_status` answered with a status");
    let script = Script::new(|_, _, _| Box::pin(async { bail!("no luck") }))
        .on_error(|_, _, _| ErrorStatusUpdateControl::patch_status(said("by the reconciler")));
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    let told = told_now(&scene).await?;
    assert!(told[0].ends_with("leave one of them out (it was about: no luck)"), "{told:?}");
    Ok(())
}

#[operator_test]
async fn who_ends_the_retries_is_asked_before_the_status_is_made() -> Result<()> {
    let scene = Scene::new("status-handled").await?;
    scene.failures.expect("no luck");
    let script = Script::new(|_, _, _| Box::pin(async { bail!("no luck") }))
        .on_error(|_, _, _| ErrorStatusUpdateControl::no_status_update().with_no_retry());
    let status = |_: &TestResource, run: &Run<TestResource>| {
        let last = run.error().map(|error| format!("{error}: {}", error.is_last_attempt()));
        TestStatus { message: last, ..TestStatus::default() }
    };
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "value").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    assert_eq!(scene.resources.get("one").await?.status, Some(said("no luck: true")));
    Ok(())
}
