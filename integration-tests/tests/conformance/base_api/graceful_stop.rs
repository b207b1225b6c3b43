//! The second reconcile is running when the operator is told to stop: it finishes within the termination timeout, and its
//! status is stored.

use integration_tests::prelude::*;
use operator_core::operator::{SettleError, Settling, Stopped};

/// Writes the generation that it has seen into the status. From the second run of an object on, it waits at the gate.
fn script(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::new(move |run, primary: Arc<TestResource>, _| {
        let gate = gate.clone();
        Box::pin(async move {
            if run > 1 {
                gate.pass().await;
            }
            let observed_generation = primary.metadata.generation;
            Ok(Said::status(TestStatus { observed_generation, ..TestStatus::default() }))
        })
    })
}

async fn observed(scene: &Scene) -> Result<Option<i64>> {
    Ok(scene.resources.get("one").await?.status.and_then(|status| status.observed_generation))
}

/// Starts an operator whose second run of "one" waits at the gate.
async fn in_the_second_run(
    scene: &Scene,
    gate: &Gate,
    script: &Script,
    timeout: Duration,
) -> Result<TestOperator> {
    let controller = scene.controller(script);
    let builder = scene.operator().termination_timeout(timeout).register(controller);
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(observed(scene).await?, Some(1));
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    gate.arrived().await?;
    Ok(operator)
}

#[operator_test]
async fn a_run_under_way_ends_and_its_status_is_stored() -> Result<()> {
    let scene = Scene::new("graceful-stop").await?;
    let gate = Gate::new();
    let script = script(&gate);
    let operator = in_the_second_run(&scene, &gate, &script, Duration::from_secs(60)).await?;

    let (stopped, released) = tokio::join!(operator.stop(), async {
        // An operator that is being stopped counts as stopped for whoever asks.
        eventually("the stop's beginning", async || {
            Ok((operator.settled().await.err() == Some(SettleError::NotRunning)).then_some(()))
        })
        .await?;
        // What comes now is for the next start.
        scene.create("two", "late").await?;
        scene.patch("one", json!({ "spec": { "value": "late" } })).await?;
        gate.let_through(1);
        anyhow::Ok(())
    });
    released?;
    assert_eq!(stopped, Stopped::Drained);
    assert_eq!(observed(&scene).await?, Some(2), "the run's own status, stored before the stop was over");
    assert_eq!((script.runs.of("one").len(), script.runs.of("two").len()), (2, 0));
    assert_eq!(script.runs.under_way(), 0);

    // Started again, the operator finds what it has missed.
    gate.let_through(1);
    operator.operator().start().await?;
    operator.operator().settled(Settling::default()).await?;
    assert_eq!(observed(&scene).await?, Some(3));
    assert_eq!((script.runs.of("one").len(), script.runs.of("two").len()), (3, 1));
    Ok(())
}

#[operator_test]
async fn a_run_that_outlives_the_termination_timeout_is_dropped() -> Result<()> {
    let scene = Scene::new("graceful-stop").await?;
    let gate = Gate::new();
    let script = script(&gate);
    let operator = in_the_second_run(&scene, &gate, &script, Duration::from_millis(100)).await?;

    assert_eq!(operator.stop().await, Stopped::TimedOut);
    assert_eq!(script.runs.under_way(), 0, "nothing of the operator runs after a stop");
    gate.let_through(1);
    assert_eq!(observed(&scene).await?, Some(1));
    Ok(())
}

/// On the real server alone: virtual time has one thread, which the run blocks.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_blocks_its_thread_is_not_waited_for_and_writes_nothing_any_more() -> Result<()> {
    let scene = Scene::new("graceful-stop").await?;
    // Told when the run's thread goes on, which may be after the test.
    scene.failures.allow("the operator has stopped");
    let (entered, has_entered) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel();
    let may_go_on = Arc::new(parking_lot::Mutex::new(may_go_on));
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let (entered, may_go_on) = (entered.clone(), Arc::clone(&may_go_on));
        Box::pin(async move {
            entered.send(())?;
            tokio::task::block_in_place(|| may_go_on.lock().recv())?;
            context.resource_operations().server_side_apply(&config_map(&*primary, context, "late")).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    let builder = scene.operator().termination_timeout(Duration::from_millis(100)).register(controller);
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "value").await?;
    tokio::task::block_in_place(|| has_entered.recv())?;

    assert_eq!(operator.stop().await, Stopped::TimedOut);
    assert_eq!(script.runs.under_way(), 1, "nobody can end it from outside");
    go_on.send(())?;
    eventually("the run's end", async || Ok((script.runs.under_way() == 0).then_some(()))).await?;
    assert!(scene.api::<ConfigMap>().get_opt("one").await?.is_none());
    Ok(())
}
