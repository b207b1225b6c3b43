//! Runs that fail, for the mark and for the end.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail};
use integration_tests::{Gate, Scene, Script, TestResource};
use kube::ResourceExt;
use operator_core::{GenericRetry, UpdateControl, testing::operator_test};
use serde_json::json;

use super::{Seen, THEIRS, Told, create_held, nothing_is_kept, on_all_events, script};

const DELAY: Duration = Duration::from_millis(800);
const HEALED: &str = "all-events.example.com/healed";

/// Fails until its primary says that all is well; its first retry waits at the gate, and then for the next event.
fn failing_until_healed(seen: &Seen, gate: Option<&Gate>) -> Script {
    let (seen, gate) = (seen.clone(), gate.cloned());
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let (seen, gate) = (seen.clone(), gate.clone());
        Box::pin(async move {
            let told = seen.note(&primary, context);
            let attempt = context.retry_info().map(|retry| retry.attempt);
            if let Some(gate) = gate.filter(|_| attempt == Some(1) && !context.another_follows()) {
                gate.pass().await;
                while !context.another_follows() {
                    tokio::task::yield_now().await;
                }
            }
            if told != Told::Gone && !primary.annotations().contains_key(HEALED) {
                bail!("on purpose");
            }
            Ok(UpdateControl::no_update())
        })
    })
}

fn annotated(key: &str) -> serde_json::Value {
    json!({ "metadata": { "annotations": { key: "true" } } })
}

#[operator_test]
async fn a_failed_run_of_the_end_is_retried() -> Result<()> {
    let scene = Scene::new("all-events-retry").await?;
    scene.failures.expect("on purpose");
    let seen = Seen::default();
    let script = script(&seen, |told, number| told == Told::Gone && number < 4);
    let controller = on_all_events(&scene, &script).retry(GenericRetry::linear(DELAY, 2)?);
    let operator = scene.start(controller).await?;
    scene.create("one", "free").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Gone, Told::Gone, Told::Gone]);
    let runs = script.runs.of("one");
    let attempts: Vec<_> = runs.iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None, None, Some(1), Some(2)]);
    assert!(runs[2].started - runs[1].started >= DELAY, "after the delay of any other retry");
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn an_event_during_a_failing_retry_is_served_at_once() -> Result<()> {
    let scene = Scene::new("all-events-during-retry").await?;
    scene.failures.expect("on purpose");
    let (seen, gate) = (Seen::default(), Gate::new());
    let script = failing_until_healed(&seen, Some(&gate));
    let controller = on_all_events(&scene, &script).generation_aware(false);
    let operator = scene.start(controller.retry(GenericRetry::linear(DELAY, 2)?)).await?;
    create_held(&scene, "one", "kept").await?;
    scene.delete("one").await?;
    gate.arrived().await?;
    let before = script.runs.of("one").len();
    scene.patch("one", annotated("all-events.example.com/other")).await?;
    gate.let_through(1);
    operator.settled().await?;
    let attempts: Vec<_> = script.runs.of("one").iter().skip(before - 1).map(|run| run.attempt).collect();
    assert_eq!(
        attempts,
        [Some(1), Some(1), Some(2)],
        "the event uses up no attempt, and the last retry follows"
    );

    scene.patch("one", annotated(HEALED)).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all().last(), Some(&Told::Gone));
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn an_event_after_the_last_retry_is_a_run_as_well() -> Result<()> {
    let scene = Scene::new("all-events-after-retry").await?;
    scene.failures.expect("on purpose");
    let seen = Seen::default();
    let script = failing_until_healed(&seen, None);
    let controller = on_all_events(&scene, &script).generation_aware(false);
    create_held(&scene, "one", "kept").await?;
    scene.delete("one").await?;
    let operator = scene.start(controller.retry(GenericRetry::linear(DELAY, 2)?)).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 3, "a run and two retries");

    scene.patch("one", annotated(HEALED)).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert_eq!(scene.resources.get("one").await?.finalizers(), [THEIRS]);
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Marked, Told::Marked, Told::Marked, Told::Marked, Told::Gone]);
    nothing_is_kept(&operator).await;
    Ok(())
}
