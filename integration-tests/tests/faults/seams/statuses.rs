//! The status that a function makes of each run: also if writing it fails, and if there is no primary left to write it to.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::{Permanent, prelude::*, testing::faults::Match};

use super::{TestResource, message, pass, scene, under};

/// What the run failed with, or the value.
fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    said(run.error().map_or_else(|| one.spec.value.clone(), ToString::to_string))
}

fn of_the_status() -> Match {
    Rule::writes().resource("testresources").subresource("status")
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_not_retried_is_until_its_status_is_written() -> Result<()> {
    let scene = scene().await?;
    let script = Script::failing(|| Permanent::new("there is no such plan"));
    let unwritten = of_the_status().first(3).status(StatusAnswer::unavailable());
    let faults = Faults::new([unwritten.clone()]);
    let operator = under(&faults, &scene, scene.controller(&script).status(status)).await?;
    scene.create("one", "value").await?;
    pass(300).await;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("there is no such plan"));
    assert_eq!((unwritten.fired(), script.runs.count()), (3, 4));
    pass(3600).await;
    assert_eq!(script.runs.count(), 4, "and then no more");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_succeeded_is_retried_until_its_status_is_written() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let unwritten = of_the_status().first(2).status(StatusAnswer::internal());
    let faults = Faults::new([unwritten.clone()]);
    let operator = under(&faults, &scene, scene.controller(&script).status(status)).await?;
    scene.create("one", "value").await?;
    pass(300).await;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("value"));
    assert_eq!((unwritten.fired(), script.runs.count()), (2, 3));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_status_whose_write_is_never_answered_does_not_keep_its_primary() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let unanswered = of_the_status().first(1).fault(Fault::Hang);
    let faults = Faults::new([unanswered.clone()]);
    let controller = scene.controller(&script).status(status).reconcile_timeout(Duration::from_secs(5));
    let operator = under(&faults, &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(15).await;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("value"));
    assert_eq!((unanswered.fired(), script.runs.count()), (1, 2));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_goes_during_its_run_gets_no_status() -> Result<()> {
    let scene = scene().await?;
    for failing in [false, true] {
        let of = scene.clone();
        let script = Script::new(move |_, _, _| {
            let scene = of.clone();
            Box::pin(async move {
                scene.delete("one").await?;
                pass(1).await;
                anyhow::ensure!(!failing, "it fails");
                Ok(UpdateControl::no_update())
            })
        });
        let operator = under(&Faults::none(), &scene, scene.controller(&script).status(status)).await?;
        scene.create("one", "value").await?;
        pass(60).await;
        let settled = operator.settled().await?;
        assert_eq!(script.runs.count(), 1, "failing: {failing}");
        assert!(settled.written().is_empty(), "failing: {failing}: {:?}", settled.written());
        operator.stop().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn others_are_looked_at_once_before_the_first_conditions_are_written() -> Result<()> {
    let scene = scene().await?;
    let mut one = TestResource::named("one", "value");
    let theirs = json!({
        "type": "Theirs", "status": "True", "reason": "Told", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    one.status = Some(serde_json::from_value(json!({ "conditions": [theirs] }))?);
    let created = scene.resources.create(&PostParams::default(), &one).await?;
    one.metadata = created.metadata;
    scene.resources.replace_status("one", &PostParams::default(), &one).await?;
    let status = |one: &TestResource, run: &Run<TestResource>| TestStatus {
        conditions: run.conditions(one),
        ..status(one, run)
    };
    let script = Script::idle();
    let operator = under(&Faults::none(), &scene, scene.controller(&script).status(status)).await?;
    pass(60).await;
    let requests = operator.settled().await?.requests;
    let told: Vec<_> = requests.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["GET testresources/one -> 200", "PATCH testresources/one/status -> 200"]);
    scene.set("one", "other").await?;
    pass(60).await;
    let requests = operator.settled().await?.requests;
    let told: Vec<_> = requests.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["PATCH testresources/one/status -> 200"]);
    let conditions = scene.resources.get("one").await?.status.unwrap_or_default().conditions;
    let types: Vec<_> = conditions.iter().map(|condition| &*condition.type_).collect();
    assert_eq!(types, ["Theirs", "Ready", "Reconciling", "Stalled"]);
    operator.stop().await;
    Ok(())
}

fn first(one: &TestResource) -> Want<ConfigMap> {
    match one.spec.value == "held" {
        true => Want::hold("Frozen", "held"),
        false => map_of(one, "first", one.value()).into(),
    }
}

fn second(one: &TestResource) -> ConfigMap {
    map_of(one, "second", one.value())
}

fn third(one: &TestResource) -> Option<ConfigMap> {
    (one.spec.value != "held").then(|| map_of(one, "third", one.value()))
}

fn several(one: &TestResource) -> Vec<ConfigMap> {
    ["fourth", "fifth"].map(|name| map_of(one, name, one.value())).into()
}

#[tokio::test(start_paused = true)]
async fn what_is_held_or_blocked_is_known_all_the_same() -> Result<()> {
    let scene = scene().await?;
    // The first one is held, the second one waits for it: neither is come to, and both are there.
    let status = |one: &TestResource, run: &Run<TestResource>| {
        let known = [run.get(first), run.get(second), run.get(third)];
        let known = known.into_iter().flatten().chain(run.get(several)).map(|map| map.name_any());
        let state = run.state(second).map(ToString::to_string);
        let reason = run.conditions(one).first().map(|ready| ready.reason.clone());
        TestStatus { messages: known.chain(state).chain(reason).collect(), ..TestStatus::default() }
    };
    let controller = Controller::of::<TestResource>()
        .namespaces([&scene.namespace])
        .workflow((first, second.after(first), third, several))
        .status(status);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    let told = async || -> Result<Vec<String>> {
        Ok(scene.resources.get("one").await?.status.unwrap_or_default().messages)
    };
    let all = ["one-first", "one-second", "one-third", "one-fifth", "one-fourth", "created", "Succeeded"];
    assert_eq!(told().await?, all);
    // Somebody holds the one that is to be removed.
    let held = Patch::Merge(json!({ "metadata": { "finalizers": ["example.com/others"] } }));
    scene.api::<ConfigMap>().patch("one-third", &PatchParams::default(), &held).await?;
    scene.set("one", "held").await?;
    pass(60).await;
    let kept = [
        "one-first",
        "one-second",
        "one-fifth",
        "one-fourth",
        "waiting for first to be released: held",
        "Frozen",
    ];
    assert_eq!(told().await?, kept, "what is removed is not told, what is kept is");
    operator.stop().await;
    Ok(())
}
