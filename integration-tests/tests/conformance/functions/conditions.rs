//! Conditions and functions in each allowed form: until a condition is met, its reason is reported.

use anyhow::Result;
use futures::future::BoxFuture;
use integration_tests::prelude::*;
use operator_core::{prelude::*, workflow::NodeResult};

use super::{a_map, a_secret, done, says};

fn value_of(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("value")).map_or("nothing", String::as_str)
}

fn is_on(map: &ConfigMap) -> bool {
    value_of(map) == "on"
}

fn of_child(map: &ConfigMap) -> bool {
    is_on(map)
}

fn of_primary(one: &TestResource) -> bool {
    says(one, "on")
}

fn of_both(map: &ConfigMap, one: &TestResource) -> bool {
    is_on(map) && says(one, "on")
}

fn of_both_judged(map: &ConfigMap, one: &TestResource) -> Verdict {
    Verdict::when(is_on(map), format!("{} has said {}", one.name_any(), one.spec.value))
}

fn tried(map: &ConfigMap) -> Result<bool, BoxError> {
    match value_of(map) {
        "broken" => Err("it can't tell".into()),
        _ => Ok(is_on(map)),
    }
}

/// A judgement, or an error.
fn judge(map: &ConfigMap, by: &str) -> Result<Verdict, BoxError> {
    match value_of(map) {
        "broken" => Err(format!("{by} can't tell").into()),
        value => Ok(Verdict::when(value == "on", format!("{by} has found {value}"))),
    }
}

fn judged(map: &ConfigMap) -> Result<Verdict, BoxError> {
    judge(map, "it")
}

fn judged_of_both(
    map: &ConfigMap,
    one: &TestResource,
    _: &Context<TestResource>,
) -> Result<Verdict, BoxError> {
    judge(map, &one.name_any())
}

async fn later(map: &ConfigMap) -> bool {
    tokio::task::yield_now().await;
    is_on(map)
}

async fn later_of_both(map: &ConfigMap, one: &TestResource) -> Result<Verdict, BoxError> {
    tokio::task::yield_now().await;
    judge(map, &one.name_any())
}

async fn owning(map: Arc<ConfigMap>, cx: Context<TestResource>) -> Verdict {
    tokio::task::yield_now().await;
    Verdict::when(is_on(&map), format!("{} is off", cx.primary_key().name()))
}

async fn owning_tried(map: Arc<ConfigMap>, _: Context<TestResource>) -> Result<Verdict, BoxError> {
    tokio::task::yield_now().await;
    judge(&map, "its owner")
}

fn boxed(map: &ConfigMap) -> BoxFuture<'_, Result<Verdict, BoxError>> {
    Box::pin(async move { judge(map, "a box") })
}

/// What each node has come to, by its status.
fn told(_: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let state = |node: &NodeResult| format!("{}: {}", node.name, node.state);
    TestStatus { messages: run.nodes().iter().map(state).collect(), ..TestStatus::default() }
}

/// Each form: its node, what it waits for while the value is `off`, and whether it can't tell while it is `broken`.
const FORMS: [(&str, &str, bool); 12] = [
    ("of-child", "`of_child` is not met", false),
    ("of-primary", "`of_primary` is not met", false),
    ("of-both", "`of_both` is not met", false),
    ("of-both-judged", "one has said off", false),
    ("tried", "`tried` is not met", true),
    ("judged", "it has found off", true),
    ("judged-of-both", "one has found off", true),
    ("later", "`later` is not met", false),
    ("later-of-both", "one has found off", true),
    ("owning", "one is off", false),
    ("owning-tried", "its owner has found off", true),
    ("boxed", "a box has found off", true),
];

#[operator_test]
async fn each_form_of_a_condition_tells_why_it_is_not_met_and_fails_where_it_cannot_tell() -> Result<()> {
    let scene = Scene::new("functions-conditions").await?;
    scene.failures.expect("can't tell");
    let named = |name: &'static str| node(a_map).named(name);
    let of_two = (
        named("of-child").ready(of_child),
        named("of-primary").ready(of_primary),
        named("of-both").ready(of_both),
        named("of-both-judged").ready(of_both_judged),
        named("tried").ready(tried),
        named("judged").ready(judged),
        named("judged-of-both").ready(judged_of_both),
    );
    let asynchronous = (
        named("later").ready(later),
        named("later-of-both").ready(later_of_both),
        named("owning").ready(owning),
        named("owning-tried").ready(owning_tried),
        named("boxed").ready(boxed),
    );
    let controller = Controller::of::<TestResource>().namespaces([&scene.namespace]);
    let controller =
        controller.workflow(of_two).workflow(asynchronous).status(told).retry(GenericRetry::no_retry());
    let operator = scene.start(controller).await?;
    let settled = async || -> Result<Vec<String>> {
        operator.settled().await?;
        Ok(scene.resources.get("one").await?.status.unwrap_or_default().messages)
    };
    let all = |of: &dyn Fn(&(&str, &str, bool)) -> String| -> Vec<String> {
        FORMS.iter().map(|form| format!("{}: {}", form.0, of(form))).collect()
    };
    scene.create("one", "off").await?;
    assert_eq!(settled().await?, all(&|(_, reason, _)| format!("created, not ready: {reason}")));

    scene.patch("one", json!({ "spec": { "value": "broken" } })).await?;
    let broken = settled().await?;
    let fails: Vec<bool> = broken.iter().map(|line| line.ends_with(" can't tell")).collect();
    assert_eq!(fails, FORMS.map(|(_, _, fails)| fails), "{broken:#?}");

    scene.patch("one", json!({ "spec": { "value": "on" } })).await?;
    assert_eq!(settled().await?, all(&|_| "updated".to_owned()));
    Ok(())
}

fn parcel(one: &TestResource) -> BoxFuture<'_, Result<Option<ConfigMap>, BoxError>> {
    Box::pin(async move {
        tokio::task::yield_now().await;
        if says(one, "broken") {
            Err("the box is broken".into())
        } else {
            Ok(says(one, "on").then(|| a_map(one)))
        }
    })
}

fn promise(one: &TestResource) -> impl Future<Output = Option<Secret>> + Send {
    let is_on = says(one, "on");
    async move {
        tokio::task::yield_now().await;
        is_on.then(a_secret)
    }
}

#[operator_test]
async fn a_function_may_answer_with_a_future_of_its_own() -> Result<()> {
    let scene = Scene::new("functions-futures").await?;
    scene.failures.expect("the box is broken");
    let controller = Controller::of::<TestResource>().namespaces([&scene.namespace]);
    let controller = controller.workflow((parcel, promise)).status(told).retry(GenericRetry::no_retry());
    let operator = scene.start(controller).await?;
    let written = async || -> Result<Vec<String>> {
        let mut written = done(&operator.settled().await?);
        written.retain(|line| !line.contains("/status"));
        // Neither waits for the other one.
        written.sort();
        Ok(written)
    };
    scene.create("one", "on").await?;
    let made = ["PATCH configmaps/one-parcel -> 201", "PATCH secrets/one-promise -> 201"];
    assert_eq!(written().await?, made);
    scene.patch("one", json!({ "spec": { "value": "broken on" } })).await?;
    assert_eq!(written().await?, [""; 0]);
    let messages = scene.resources.get("one").await?.status.unwrap_or_default().messages;
    assert_eq!(messages, ["parcel: failed: the box is broken", "promise: matched"]);
    scene.patch("one", json!({ "spec": { "value": "off" } })).await?;
    let gone = ["DELETE configmaps/one-parcel -> 200", "DELETE secrets/one-promise -> 200"];
    assert_eq!(written().await?, gone);
    Ok(())
}
