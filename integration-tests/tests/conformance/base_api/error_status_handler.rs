//! A run that always fails is retried three times; the error status has one message for each attempt, four in all.

use anyhow::anyhow;
use integration_tests::prelude::*;
use operator_core::Run;

const DELAY: Duration = Duration::from_millis(50);

fn one_more_message(primary: &TestResource, run: &Run<TestResource>) -> Option<TestStatus> {
    let error = run.error()?;
    let mut messages = primary.status.clone().unwrap_or_default().messages;
    let last = if error.is_last_attempt() { ", the last one" } else { "" };
    messages.push(format!("{error}, attempt {}{last}", error.attempt()));
    Some(TestStatus { messages, ..TestStatus::default() })
}

#[operator_test]
async fn each_attempt_leaves_its_message_in_the_status() -> Result<()> {
    let scene = Scene::new("error-status-handler").await?;
    scene.failures.expect("no luck");
    let script = Script::failing(|| anyhow!("no luck"));
    let controller = script
        .controller()
        .status(one_more_message)
        .retry(GenericRetry::linear(DELAY, 3)?)
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 4);
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"; 4]);
    let messages = scene.resources.get("one").await?.status.unwrap_or_default().messages;
    assert_eq!(
        messages,
        [
            "no luck, attempt 0",
            "no luck, attempt 1",
            "no luck, attempt 2",
            "no luck, attempt 3, the last one"
        ]
    );

    // The attempts are used up and stay so until a run succeeds: the next event leads to one run and no retry.
    scene.patch("one", json!({ "spec": { "value": "changed" } })).await?;
    let after = operator.settled().await?;
    assert_eq!(after.runs_of(&scene.key("one")), 1);
    assert_eq!(scene.resources.get("one").await?.status.unwrap_or_default().messages.len(), 5);
    Ok(())
}
