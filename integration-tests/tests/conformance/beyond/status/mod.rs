//! A function that makes the status of each run, whatever the run has come to.

mod ends;

use integration_tests::{TestResource, TestStatus};
use operator_core::Run;

/// What the conditions of a status say: type, status, reason and message of each.
fn told(one: &TestResource) -> Vec<String> {
    let conditions = one.status.iter().flat_map(|status| &status.conditions);
    let line = |part: [&str; 4]| part.join(" ").trim().to_owned();
    conditions.map(|of| line([&of.type_, &of.status, &of.reason, &of.message])).collect()
}

/// A status that says what the run has come to.
fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    TestStatus {
        message: Some(one.spec.value.clone()),
        conditions: run.conditions(one),
        observed_generation: one.metadata.generation,
        ..TestStatus::default()
    }
}
