//! A function that makes the status of each run, whatever the outcome.

mod book;
mod cleanups;
mod conditions;
mod ends;
mod gates;
mod mistakes;
mod values;
mod writes;

use integration_tests::prelude::*;
use operator_core::{Run, Verdict, Wire as _};

/// The conditions of a status: type, status, reason and message of each.
fn told(one: &TestResource) -> Vec<String> {
    let conditions = one.status.iter().flat_map(|status| &status.conditions);
    let line = |parts: [&str; 4]| parts.join(" ").trim().to_owned();
    conditions.map(|of| line([&of.type_, &of.status, &of.reason, &of.message])).collect()
}

/// The same of the resource called `one`.
async fn told_now(scene: &Scene) -> Result<Vec<String>> {
    Ok(told(&scene.resources.get("one").await?))
}

/// A status with the outcome of the run.
fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    TestStatus {
        message: Some(one.spec.value.clone()),
        conditions: run.conditions(one),
        observed_generation: one.metadata.generation,
        ..TestStatus::default()
    }
}

/// This number of attempts after the first one, one after the other.
fn retries(attempts: u32) -> Result<GenericRetry> {
    Ok(GenericRetry::linear(Duration::from_millis(50), attempts)?)
}

/// A config map that can't be made of the value `bad`.
fn picky(one: &TestResource) -> Result<ConfigMap, BoxError> {
    match &*one.spec.value {
        "bad" => Err("there is no such plan".into()),
        value => Ok(map_of(one, "picky", value)),
    }
}

/// Met unless the value is `odd`.
fn not_odd(one: &TestResource) -> Verdict {
    Verdict::when(one.spec.value != "odd", "the value is odd")
}

fn first(one: &TestResource) -> ConfigMap {
    map_of(one, "first", &one.spec.value)
}

fn last(one: &TestResource) -> ConfigMap {
    map_of(one, "last", &one.spec.value)
}

/// `first`, then `picky`, then `last`.
fn three() -> Result<Workflow<TestResource>> {
    Ok(Workflow::builder().nodes((first, picky.after(first), last.after(picky))).build()?)
}
