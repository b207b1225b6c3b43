//! An operator as most are, under bad luck: it has a workload with claims, kinds whose controllers count and date, a password
//! made by chance, and a kind that the cluster lacks. The one line of the documentation is enough for it, and six faults in it are
//! found.

mod ends;
mod faults;
mod operator;
mod role;

use integration_tests::prelude::*;
use operator_core::{
    sim_test,
    testing::simulation::{FaultPlan, Oracle, Settings, Sim, Violation, assert_eventually_stable, explore},
};

use faults::Fault;
use operator::{Cache, CacheSpec, operator};

fn cache() -> Cache {
    let backups = Some("0 3 * * *".to_owned());
    let mut cache = Cache::new("a", CacheSpec { members: 2, backups, metrics: true });
    cache.metadata.namespace = Some("default".to_owned());
    cache
}

#[tokio::test]
async fn an_ordinary_operator_is_stable() {
    assert_eventually_stable(|| operator(Fault::Nothing), cache()).await;
}

async fn life_of_a_cache(sim: Sim, fault: Fault, plan: FaultPlan) {
    sim.operator(move || operator(fault));
    sim.faults(plan);
    sim.user(async |user| {
        user.apply(cache()).await;
        user.patch::<Cache>("a", json!({ "spec": { "members": 3 } })).await;
        user.patch::<Cache>("a", json!({ "spec": { "members": 1, "backups": null, "metrics": false } }))
            .await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

/// The crashes are those of the test above.
#[sim_test(schedules = 8)]
async fn an_ordinary_operator_follows_its_users(sim: Sim) {
    life_of_a_cache(sim, Fault::Nothing, FaultPlan::storm()).await;
}

/// Runs the operator with this fault, which `oracle` finds, and says `text` about. The one line of the documentation has both
/// plans of these tests, crashes and storms.
fn is_found(fault: Fault, plan: fn() -> FaultPlan, oracle: Oracle, text: &str) {
    // The story isn't read here.
    let settings = Settings { shrinking: Duration::ZERO, ..Settings::schedules(10) };
    let name = format!("{fault:?}");
    let outcome = explore(&name, settings, |sim| life_of_a_cache(sim, fault, plan()));
    let failure = outcome.expect_err("the fault is found");
    let found = |violation: &Violation| violation.oracle == oracle && violation.message.contains(text);
    assert!(failure.violations.iter().any(found), "{failure}");
}

fn crashes() -> FaultPlan {
    FaultPlan::none().crash_at_every_write()
}

#[test]
fn a_password_in_an_event_is_found() {
    is_found(Fault::TellsThePassword, FaultPlan::none, Oracle::NoSecret, "events");
}

#[test]
fn a_number_of_runs_that_is_kept_in_memory_is_found() {
    is_found(Fault::CountsInMemory, FaultPlan::storm, Oracle::SameState, "caches/default/a .status .runs");
}

#[test]
fn an_object_that_is_made_a_second_time_is_found() {
    is_found(
        Fault::MakesItAgain,
        FaultPlan::storm,
        Oracle::NothingForbidden,
        "configmaps/default with a generated name",
    );
}

#[test]
fn what_is_called_done_before_it_is_done_is_found() {
    is_found(
        Fault::SaysDoneBefore,
        crashes,
        Oracle::SameState,
        "configmaps/default/a-registered doesn't exist",
    );
}

#[test]
fn a_time_that_each_run_writes_is_found() {
    is_found(Fault::WritesTheTime, FaultPlan::none, Oracle::Quiet, "configmaps/default/a-time");
}

#[test]
fn a_deletion_after_an_error_that_was_taken_for_absence_is_found() {
    is_found(
        Fault::TakesAnErrorForAbsence,
        FaultPlan::storm,
        Oracle::NothingForbidden,
        "configmaps/default/a-users",
    );
}
