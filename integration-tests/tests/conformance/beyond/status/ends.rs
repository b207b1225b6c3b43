//! The status at each end of a run.

use anyhow::anyhow;
use integration_tests::prelude::*;
use operator_core::{Run, Want, Wire as _, the};

use super::{first, last, not_odd, picky, retries, status, three, told, told_now};

#[operator_test]
async fn a_run_that_succeeds_says_so_once_for_each_change() -> Result<()> {
    let scene = Scene::new("status-success").await?;
    let workflow = Workflow::builder().nodes((Child("app").node(),)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one-app -> 201", "PATCH testresources/one/status -> 200"]
    );
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "its own status causes no run");
    let one = scene.resources.get("one").await?;
    assert_eq!(
        told(&one),
        ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"]
    );
    assert_eq!(one.status.unwrap_or_default().observed_generation, Some(1));

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one-app -> 200", "PATCH testresources/one/status -> 200"]
    );
    assert_eq!(scene.resources.get("one").await?.status.unwrap_or_default().observed_generation, Some(2));
    Ok(())
}

#[operator_test]
async fn a_node_that_fails_is_told_while_it_is_retried_and_when_it_no_longer_is() -> Result<()> {
    let scene = Scene::new("status-failed-node").await?;
    scene.failures.expect("there is no such plan");
    let controller = scene.managed(&Script::idle(), &three()?).status(status).retry(retries(3)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "bad").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 4);
    // Between the first and the last attempt nothing changes.
    let status_is_written = "PATCH testresources/one/status -> 200";
    assert_eq!(
        settled.written(),
        ["PATCH configmaps/one-first -> 201", status_is_written, status_is_written]
    );
    let why = "Failed 1 dependent failed: picky: there is no such plan";
    let last =
        [format!("Ready False {why}"), "Reconciling False Failed".into(), format!("Stalled True {why}")];
    assert_eq!(told_now(&scene).await?, last);

    scene.patch("one", json!({ "spec": { "value": "good" } })).await?;
    operator.settled().await?;
    let good = ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"];
    assert_eq!(told_now(&scene).await?, good);
    Ok(())
}

#[operator_test]
async fn where_errors_stay_in_the_result_a_node_that_fails_is_told_and_fails_no_run() -> Result<()> {
    let scene = Scene::new("status-kept-errors").await?;
    let workflow = Workflow::builder()
        .nodes((first, picky.after(first), last.after(picky)))
        .handle_errors_in_reconciler();
    let of_nodes = |one: &TestResource, run: &Run<TestResource>| TestStatus {
        messages: run.failed().map(|node| node.name.to_string()).collect(),
        message: run.error().map(ToString::to_string),
        ..status(one, run)
    };
    // There is no reconciler.
    let controller = Controller::of::<TestResource>().namespaces([&scene.namespace]).workflow(workflow);
    let operator = scene.start(controller.status(of_nodes).retry(retries(3)?)).await?;
    scene.create("one", "bad").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "it isn't retried");
    let written = ["PATCH configmaps/one-first -> 201", "PATCH testresources/one/status -> 200"];
    assert_eq!(settled.written(), written);
    let one = scene.resources.get("one").await?;
    let why = "Failed picky: failed: there is no such plan";
    let expected =
        [format!("Ready False {why}"), "Reconciling False Failed".into(), format!("Stalled True {why}")];
    assert_eq!(told(&one), expected);
    let status = one.status.unwrap_or_default();
    assert_eq!((status.messages, status.message), (vec!["picky".to_owned()], None));

    scene.patch("one", json!({ "spec": { "value": "good" } })).await?;
    operator.settled().await?;
    let good = ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"];
    assert_eq!(told_now(&scene).await?, good);
    Ok(())
}

/// One more message with the error, for each run.
fn messages(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let mut status = one.status.clone().unwrap_or_default();
    status.messages.extend(run.error().map(|error| {
        let last = if error.is_last_attempt() { ", the last one" } else { "" };
        format!("{error}, attempt {}{last}", error.attempt())
    }));
    status
}

#[operator_test]
async fn an_error_is_told_with_its_attempt_and_whether_it_is_the_last_one() -> Result<()> {
    let scene = Scene::new("status-attempts").await?;
    scene.failures.expect("no luck");
    let script = Script::failing(|| anyhow!("no luck"));
    let controller = scene.controller(&script).status(messages).retry(retries(2)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"; 3]);
    let told = scene.resources.get("one").await?.status.unwrap_or_default().messages;
    assert_eq!(told, ["no luck, attempt 0", "no luck, attempt 1", "no luck, attempt 2, the last one"]);
    Ok(())
}

#[operator_test]
async fn without_retries_the_first_attempt_is_the_last_one() -> Result<()> {
    let scene = Scene::new("status-no-retry").await?;
    scene.failures.expect("no luck");
    let script = Script::failing(|| anyhow!("no luck"));
    let controller = scene.controller(&script).status(messages).retry(retries(0)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    let told = scene.resources.get("one").await?.status.unwrap_or_default().messages;
    assert_eq!(told, ["no luck, attempt 0, the last one"]);
    Ok(())
}

#[operator_test]
async fn a_deadline_names_the_node_that_hung_and_for_how_long() -> Result<()> {
    let scene = Scene::new("status-deadline").await?;
    scene.failures.expect("the run was dropped after 5s");
    let slow = Elsewhere::unanswered().named("slow").after(first);
    let behind = Child("behind").node().after(the::<Elsewhere>());
    let workflow = Workflow::builder().nodes((first, slow, behind)).build()?;
    let status = |one: &TestResource, run: &Run<TestResource>| {
        let error = run.error();
        let hung = error.filter(|error| error.timed_out()).and_then(|error| error.node());
        TestStatus { message: hung.map(str::to_owned), ..status(one, run) }
    };
    let controller = scene.managed(&Script::idle(), &workflow).status(status);
    let controller = controller.reconcile_timeout(Duration::from_secs(5));
    // The retry is far away.
    let controller = controller.retry(GenericRetry::linear(Duration::from_secs(3600), 5)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    let one = scene.until("the status", "one", |one| one.status.is_some()).await?;
    // The run tells of its failure after it has written the status.
    operator.stop().await;
    // On a busy machine what comes before it takes a part of the five seconds, and the clock rings late.
    let is_told = |seconds: usize| {
        let why = format!(
            "TimedOut the run was dropped after 5s, its controller's `reconcile_timeout`; its requests in progress may still take effect; \
             slow: pending: dependent called {seconds} s ago"
        );
        told(&one)
            == [
                format!("Ready False {why}"),
                format!("Reconciling True {why}"),
                "Stalled False TimedOut".into(),
            ]
    };
    assert!((0..10).any(is_told), "{:#?}", told(&one));
    assert_eq!(one.status.unwrap_or_default().message.as_deref(), Some("slow"));
    Ok(())
}

#[operator_test]
async fn a_panic_is_told_with_its_words() -> Result<()> {
    let scene = Scene::new("status-panic").await?;
    scene.failures.expect("no good");
    let script = Script::new(|_, one: Arc<TestResource>, _| {
        Box::pin(async move {
            assert!(one.spec.value != "bad", "no good");
            Ok(operator_core::UpdateControl::no_update())
        })
    });
    let controller = script.controller().namespaces([&scene.namespace]);
    let operator = scene.start(controller.status(status).retry(retries(1)?)).await?;
    scene.create("one", "bad").await?;
    operator.settled().await?;
    let why = "Panicked the reconciler panicked: no good";
    let last =
        [format!("Ready False {why}"), "Reconciling False Panicked".into(), format!("Stalled True {why}")];
    assert_eq!(told_now(&scene).await?, last);
    Ok(())
}

#[operator_test]
async fn what_is_held_is_stalled_and_says_why() -> Result<()> {
    let scene = Scene::new("status-held").await?;
    let held = Child("held").wants(|one| match one.spec.value.as_str() {
        "odd" => Want::hold("Odd", "the value is odd"),
        _ => Want::of(()),
    });
    let behind = Child("behind").node().after(&held);
    let workflow = Workflow::builder().nodes((held, behind)).build()?;
    let status = |one: &TestResource, run: &Run<TestResource>| TestStatus {
        messages: run.held().chain(run.waiting()).map(|node| node.name.to_string()).collect(),
        ..status(one, run)
    };
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "odd").await?;
    operator.settled().await?;
    let why = "Odd held: held: the value is odd";
    let expected =
        [format!("Ready False {why}"), "Reconciling False Odd".into(), format!("Stalled True {why}")];
    assert_eq!(told_now(&scene).await?, expected);
    let messages = scene.resources.get("one").await?.status.unwrap_or_default().messages;
    assert_eq!(messages, ["held", "behind"]);
    Ok(())
}

#[operator_test]
async fn what_is_not_ready_is_waited_for_and_says_why() -> Result<()> {
    let scene = Scene::new("status-waiting").await?;
    let behind = Child("behind").node().after(first);
    let workflow = Workflow::builder().nodes((first.ready(not_odd), behind)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "odd").await?;
    operator.settled().await?;
    let why = "Waiting first: not ready: the value is odd";
    let expected =
        [format!("Ready False {why}"), format!("Reconciling True {why}"), "Stalled False Waiting".into()];
    assert_eq!(told_now(&scene).await?, expected);
    Ok(())
}

#[operator_test]
async fn what_is_removed_says_by_whom_and_why() -> Result<()> {
    let scene = Scene::new("status-removed").await?;
    let first = Child("first").wants(|one| match one.spec.value.as_str() {
        "odd" => Want::none("the value is odd"),
        _ => Want::of(()),
    });
    let behind = Child("behind").node().requires(&first);
    let workflow = Workflow::builder().nodes((first, behind)).build()?;
    let status = |_: &TestResource, run: &Run<TestResource>| {
        let removed = run.removed().filter_map(|node| {
            let unwanted = node.unwanted.as_ref()?;
            Some(format!("{} by {}: {}", node.name, unwanted.by.as_deref()?, unwanted.reason))
        });
        TestStatus { messages: removed.collect(), ..TestStatus::default() }
    };
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "even").await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "odd" } })).await?;
    operator.settled().await?;
    let messages = scene.resources.get("one").await?.status.unwrap_or_default().messages;
    let expected = ["first", "behind"].map(|of| format!("{of} by first: the value is odd"));
    assert_eq!(messages, expected);
    Ok(())
}
