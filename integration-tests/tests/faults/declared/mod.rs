//! What follows from a declaration, whatever it says: names, texts that become fields of objects, the order of the nodes, and the
//! limits of calls. Each test has a server of its own, inside the process and in virtual time.

mod names;
mod order;
mod permits;
mod texts;

use integration_tests::prelude::*;
use operator_core::Run;

/// What a primary says about its nodes.
fn telling(primary: &TestResource, run: &Run<TestResource>) -> TestStatus {
    TestStatus { conditions: run.conditions(primary), ..TestStatus::default() }
}

/// The conditions of a primary, in lines such as `Ready=True Succeeded: …`.
async fn told(scene: &Scene, name: &str) -> Result<Vec<String>> {
    let conditions = scene.resources.get(name).await?.status.unwrap_or_default().conditions.into_iter();
    Ok(conditions.map(|of| format!("{}={} {}: {}", of.type_, of.status, of.reason, of.message)).collect())
}

/// Holds that a primary is ready.
async fn assert_ready(scene: &Scene, name: &str) -> Result<()> {
    let told = told(scene, name).await?;
    ensure!(told.iter().any(|line| line.starts_with("Ready=True")), "{name}: {told:?}");
    Ok(())
}
