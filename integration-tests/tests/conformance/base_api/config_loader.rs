//! A file takes precedence over the code: no more than its number of runs of two controllers together are in progress,
//! and a reconciler that fails twice succeeds, because it is retried as often as the file says.

use std::{fs, path::PathBuf};

use integration_tests::prelude::*;
use operator_core::{
    configuration::{ConfigEntry, ConfigLoader, ConfigProvider},
    observe::{Observation, Observer},
};
use tempfile::TempDir;

const AT_ONCE: usize = 2;
const PRIMARIES: usize = 3;
const FAILURES: usize = 2;

/// A file of settings, which is gone with the folder.
fn file(text: &str) -> Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("operator.yaml");
    fs::write(&path, text)?;
    Ok((folder, path))
}

/// Two controllers of the same primaries, whose runs have one record, and wait at one gate.
fn controllers(scene: &Scene, runs: &RunRecord, gate: &Gate) -> [ControllerBuilder<Script>; 2] {
    ["first", "second"].map(|name| {
        let (runs, gate) = (runs.clone(), gate.clone());
        let script = Script::new(move |_, primary: Arc<TestResource>, context| {
            let (runs, gate) = (runs.clone(), gate.clone());
            Box::pin(async move {
                let _run = runs.begin(&*primary, context);
                gate.pass().await;
                Ok(UpdateControl::no_update())
            })
        });
        scene.controller(&script).name(name)
    })
}

#[operator_test]
async fn the_number_of_runs_at_once_is_taken_from_a_file_for_all_controllers_together() -> Result<()> {
    let scene = Scene::new("config-loader-threads").await?;
    let (_folder, path) = file(&format!("operator.reconciliation.concurrent-threads: {AT_ONCE}\n"))?;
    let (runs, gate) = (RunRecord::new(), Gate::new());
    for number in 0..PRIMARIES {
        scene.create(&format!("number-{number}"), "value").await?;
    }
    let [first, second] = controllers(&scene, &runs, &gate);
    let operator = scene.operator().register(first).register(second).max_concurrent_reconciles(50);
    let operator = TestOperator::start(operator.configured_by(ConfigLoader::new().file(path))).await?;

    for _ in 0..AT_ONCE {
        gate.arrived().await?;
    }
    // One place after the other becomes free, and is taken by whoever has waited longest.
    for _ in AT_ONCE..2 * PRIMARIES {
        assert_eq!(runs.under_way(), AT_ONCE);
        gate.let_through(1);
        gate.arrived().await?;
    }
    gate.let_through(AT_ONCE);
    operator.settled().await?;
    assert_eq!(runs.most_at_once(), AT_ONCE);
    assert_eq!(runs.count(), 2 * PRIMARIES, "each primary has one run by each controller");
    Ok(())
}

/// The later source takes precedence.
struct Late;

impl ConfigProvider for Late {
    fn entries(&self) -> Result<Vec<ConfigEntry>, BoxError> {
        Ok(vec![ConfigEntry::new("operator.controller.flaky.retry.max-attempts", "5", "the test")])
    }
}

/// Records the delays with which retries are announced.
#[derive(Debug, Default)]
struct Delays(Mutex<Vec<Duration>>);

impl Observer for Delays {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RetryScheduled { after, .. } = observation {
            self.0.lock().push(*after);
        }
    }
}

#[operator_test]
async fn a_flaky_reconciler_succeeds_by_the_retry_of_a_file() -> Result<()> {
    let scene = Scene::new("config-loader-retry").await?;
    scene.failures.expect("failure");
    let script = Script::new(|run, _: Arc<TestResource>, _| {
        Box::pin(async move {
            if run <= FAILURES {
                bail!("failure {run}");
            }
            let message = Some("SUCCESS".to_owned());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    // In the code it is never retried, and by the file alone once.
    let controller = scene.controller(&script).name("flaky").retry(GenericRetry::no_retry());
    let (_folder, path) = file(
        "operator:\n  controller.flaky.retry: { max-attempts: 1, initial-interval: PT0.1S, interval-multiplier: 3 }\n",
    )?;
    let delays = Arc::new(Delays::default());
    let operator = scene
        .operator()
        .observer(Arc::clone(&delays) as Arc<dyn Observer>)
        .configured_by(ConfigLoader::new().file(path).provider(Late))
        .register(controller);
    let operator = TestOperator::start(operator).await?;

    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1 + u32::try_from(FAILURES)?);
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    assert_eq!(status.message.as_deref(), Some("SUCCESS"));
    assert_eq!(*delays.0.lock(), [Duration::from_millis(100); FAILURES]);
    Ok(())
}
