//! Another writer that wants another value in the same field.

use integration_tests::prelude::*;
use operator_core::processor::GovernorRateLimiter;

use super::kept;

/// So many runs at once, and so much time for each further one.
const BURST: u32 = 4;
const INTERVAL: Duration = Duration::from_millis(500);

#[operator_test]
async fn f24_a_fight_over_a_field_costs_no_more_than_the_rate_limit_allows() -> Result<()> {
    let scene = Scene::new("f24").await?;
    let (script, workflow) = (Script::idle(), workflow_of_one(wanted_map("map"))?);
    let controller = scene.managed(&script, &workflow);
    let operator =
        scene.start(controller.rate_limiter(GovernorRateLimiter::new(BURST, INTERVAL * BURST)?)).await?;
    let started = Instant::now();
    scene.create("one", "ours").await?;

    let maps = scene.api::<ConfigMap>();
    let mut rounds = 0;
    // The other one never tires. Each of its writes is undone by one run.
    while rounds < 2 * BURST {
        kept(&scene, "one-map", "ours").await?;
        let theirs = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "one-map" },
            "data": { "value": "theirs" },
        });
        maps.patch("one-map", &PatchParams::apply("rival").force(), &Patch::Apply(theirs)).await?;
        rounds += 1;
    }
    kept(&scene, "one-map", "ours").await?;
    // The script is called after the workflow, so that the last write is seen before its run is counted.
    let settled = operator.settled().await?;
    let (runs, took) = (script.runs.of("one").len(), started.elapsed());
    let allowed = f64::from(BURST) + took.as_secs_f64() / INTERVAL.as_secs_f64() + 1.0;
    assert!(runs as f64 <= allowed, "{runs} runs in {took:?}");
    assert!(took < DEADLINE);
    let writes = settled.written().len();
    assert!(writes <= runs, "no more than one write in each run: {writes} in {runs}");
    let map = maps.get("one-map").await?;
    assert_eq!(value_of(&map), Some("ours"), "who stops first has lost");
    Ok(())
}
