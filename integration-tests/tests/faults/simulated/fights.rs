//! Fights over a field, without any limit: what bounds them, and how they show.

use integration_tests::prelude::*;
use tracing::Level;

use super::{Script, over, rest, scene};

/// There is no loop breaker: each write of the other writer is an event from outside. So a fight is as fast as the
/// other writer, and no faster; the log names the field, and the metric counts the writes.
#[tokio::test(start_paused = true)]
async fn f24_a_fight_without_a_limit_costs_one_write_for_each_of_the_other_ones() -> Result<()> {
    const ROUNDS: usize = 200;
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let (script, workflow) = (Script::idle(), workflow_of_one(wanted_map("map"))?);
    let numbers = Numbers::default();
    let builder = scene.operator().metrics(numbers.recorder());
    let operator = TestOperator::start(builder.register(scene.managed(&script, &workflow))).await?;
    scene.create("one", "ours").await?;
    rest(&operator).await?;
    let runs = script.runs.count();
    let maps = scene.api::<ConfigMap>();
    for round in 0..ROUNDS {
        let theirs = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "one-map" },
            "data": { "value": format!("theirs {round}") },
        });
        maps.patch("one-map", &PatchParams::apply("rival").force(), &Patch::Apply(theirs)).await?;
        // Sometimes ours comes in between, sometimes there are several of theirs.
        tokio::time::sleep(Duration::from_millis(if round % 3 == 0 { 0 } else { 50 })).await;
    }
    let settled = rest(&operator).await?;
    let (runs, writes) = (script.runs.count() - runs, settled.written());
    assert!(runs <= ROUNDS && writes.len() <= ROUNDS, "{runs} runs and {} writes", writes.len());
    assert!(writes.len() >= ROUNDS / 2, "{} writes: the fight went on", writes.len());
    assert_eq!(value_of(&maps.get("one-map").await?), Some("ours"), "who stops first has lost");
    let updated = numbers.value("api_writes_total", &[("kind", "ConfigMap"), ("result", "updated")]);
    assert!(updated >= (ROUNDS / 2) as f64, "{updated} writes are counted");
    let lines = log.lines(Level::DEBUG);
    let named = lines.iter().filter(|line| {
        line.field("message") == "differs from the desired state" && line.field("paths").contains("data")
    });
    let named = named.count();
    assert!(named >= ROUNDS / 2, "the log names the field {named} times");
    over(&operator, &scene, &["one"]).await
}
