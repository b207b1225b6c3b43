//! A status function with mistakes, and further data that it gets.

use integration_tests::prelude::*;
use operator_core::{Permanent, Run};

use super::{retries, status};

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
    let runs = operator.settled().await?.runs_of(&scene.key("one"));
    assert!(runs > 1, "an older definition may be in its way");
    assert!(scene.resources.get("one").await?.status.is_none());
    Ok(())
}

/// What the reconciler has to say of the status.
struct Word(&'static str);

#[operator_test]
async fn what_the_reconciler_puts_into_the_run_reaches_the_status_also_of_a_run_that_fails() -> Result<()> {
    let scene = Scene::new("status-data").await?;
    scene.failures.expect("no luck");
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            context.put(Word("by the reconciler"));
            anyhow::ensure!(primary.spec.value != "bad", "no luck");
            Ok(UpdateControl::no_update())
        })
    });
    let status = |one: &TestResource, run: &Run<TestResource>| TestStatus {
        message: run.data::<Word>().map(|word| word.0.to_owned()),
        messages: run.error().iter().map(ToString::to_string).collect(),
        ..status(one, run)
    };
    let operator = scene.start(scene.controller(&script).status(status).retry(retries(0)?)).await?;
    scene.create("one", "good").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    let written = scene.resources.get("one").await?.status.unwrap_or_default();
    assert_eq!(written.message.as_deref(), Some("by the reconciler"));
    assert!(written.messages.is_empty(), "{:?}", written.messages);
    scene.set("one", "bad").await?;
    operator.settled().await?;
    let written = scene.resources.get("one").await?.status.unwrap_or_default();
    assert_eq!(
        (written.message.as_deref(), written.messages),
        (Some("by the reconciler"), vec!["no luck".to_owned()])
    );
    Ok(())
}

#[operator_test]
async fn an_error_that_is_not_retried_is_told_as_the_last_attempt() -> Result<()> {
    let scene = Scene::new("status-permanent").await?;
    scene.failures.expect("no luck");
    let script = Script::failing(|| Permanent::new("no luck"));
    let status = |_: &TestResource, run: &Run<TestResource>| {
        let last = run.error().map(|error| format!("{}: {}", error.get_ref(), error.is_last_attempt()));
        TestStatus { message: last, ..TestStatus::default() }
    };
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "value").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    assert_eq!(scene.resources.get("one").await?.status, Some(said("no luck: true")));
    Ok(())
}
