//! A run that always fails is retried three times; the error status has one message for each attempt, four in all.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail};
use integration_tests::{Scene, Script, TestResource, TestStatus};
use operator_core::{Context, Controller, ErrorStatusUpdateControl, GenericRetry, testing::operator_test};
use serde_json::json;

const DELAY: Duration = Duration::from_millis(50);

fn one_more_message(
    primary: &TestResource,
    context: &Context<TestResource>,
    error: &str,
) -> ErrorStatusUpdateControl<TestResource> {
    let mut messages = primary.status.clone().unwrap_or_default().messages;
    let attempt = context.retry_info().map_or(0, |retry| retry.attempt);
    let last = context.retry_info().is_some_and(|retry| retry.last_attempt);
    messages.push(format!("{error}, attempt {attempt}{}", if last { ", the last one" } else { "" }));
    ErrorStatusUpdateControl::patch_status(TestStatus { messages, ..TestStatus::default() })
}

#[operator_test]
async fn each_attempt_leaves_its_message_in_the_status() -> Result<()> {
    let scene = Scene::new("error-status-handler").await?;
    scene.failures.expect("no luck");
    let script = Script::new(|_, _, _| Box::pin(async { bail!("no luck") })).on_error(
        |primary: Arc<TestResource>, context, error| one_more_message(&primary, context, &error.to_string()),
    );
    let controller = Controller::builder(script.clone())
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
