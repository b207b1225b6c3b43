//! An operator as most are, under bad luck: it has a workload with claims, kinds whose controllers count and date, a password
//! made by chance, and a kind that the cluster lacks. The one line of the documentation is enough for it, and five faults in it are
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

/// The oracle that finds each fault, and a part of what it says.
const FAULTS: [(Fault, Oracle, &str); 5] = [
    (Fault::TellsThePassword, Oracle::NoSecret, "events"),
    (Fault::CountsInMemory, Oracle::SameState, "caches/default/a .status .runs"),
    (Fault::MakesItAgain, Oracle::NothingForbidden, "configmaps/default with a generated name"),
    (Fault::SaysDoneBefore, Oracle::SameState, "configmaps/default/a-registered doesn't exist"),
    (Fault::WritesTheTime, Oracle::Quiet, "configmaps/default/a-time"),
];

#[test]
fn faults_of_an_ordinary_operator_are_found() {
    let mut missed = Vec::new();
    for (fault, oracle, text) in FAULTS {
        let settings = Settings { sweeps: 4, ..Settings::schedules(10) };
        let outcome = explore(&format!("{fault:?}"), settings, |sim| {
            life_of_a_cache(sim, fault, FaultPlan::storm().crash_at_every_write())
        });
        let found = |violation: &Violation| violation.oracle == oracle && violation.message.contains(text);
        match outcome {
            Ok(_) => missed.push(format!("{fault:?} isn't found")),
            Err(failure) if failure.violations.iter().any(found) => {}
            Err(failure) => missed.push(failure.to_string()),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}
