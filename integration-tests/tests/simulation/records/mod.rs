//! Records in another system under bad luck: crashes before and after each write and each call, and storms in which the
//! other system loses requests and answers, is down, is slow, and shows its records late.
//!
//! In any case, a record is created once for each time that it is wanted anew, or the site says why not and a person
//! helps; no record of a deleted site is left, and each other site has the records that it wants.

pub(crate) mod ledger;
mod person;
pub(crate) mod site;

use integration_tests::prelude::*;
use kube::api::ObjectMeta;
use ledger::Ledger;
use operator_core::{
    sim_test,
    testing::simulation::{FaultPlan, Sim, User},
};
use site::{Site, declare};

/// The operator with its other system, its person and what is asked of them.
fn play(sim: &Sim, in_map: bool) -> Ledger {
    let (ledger, errors) = Ledger::new();
    let choices = sim.choices();
    let pick = |what: &str, of: &[u64]| of[choices.next(what, of.len() as u32) as usize];
    ledger.system.latency(Duration::from_millis(pick("latency outside", &[0, 20, 300, 2000])));
    ledger.system.shows_after(Duration::from_millis(pick("shown outside", &[0, 0, 1000, 4000])));
    ledger.system.deletes_in(Duration::from_millis(pick("deletion outside", &[0, 0, 500, 5000])));
    // More than two runs at the same time need.
    if pick("rate outside", &[0, 0, 1]) == 1 {
        ledger.system.rate(16, Duration::from_secs(1));
    }
    sim.other_system(&ledger.system);
    let declared = ledger.clone();
    sim.operator(move || declare(&declared, in_map));
    drop(tokio::task::spawn_local(person::acts(sim.client(), ledger.clone(), errors)));
    let judged = ledger.clone();
    sim.invariant(move |objects| judged.judge(objects));
    for place in [
        "status/nameId",
        "status/accountId",
        "status/hostIds/*",
        "metadata/managedFields",
        "metadata/annotations/operator-core.io~1attempts",
        "metadata/annotations/operator-core.io~1forget-attempt",
    ] {
        sim.made_up("sites", place);
    }
    // Nobody knows of a site that it has no name yet.
    sim.expected_in_calm_run("but may do so within 6s");
    ledger
}

pub(crate) fn site(name: &str, spec: Value) -> Site {
    // A person may set it, and it stays.
    let annotations = [(person::FORGET.to_owned(), "none".to_owned())];
    Site {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            annotations: Some(annotations.into()),
            ..ObjectMeta::default()
        },
        spec: serde_json::from_value(spec).expect("it is a spec"),
        status: None,
    }
}

impl Ledger {
    async fn apply(&self, user: &User, name: &str, spec: Value) {
        self.wants(&user.apply(site(name, spec)).await);
    }

    async fn patch(&self, user: &User, name: &str, spec: Value) {
        self.wants(&user.patch::<Site>(name, json!({ "spec": spec })).await);
    }
}

#[sim_test(schedules = 20)]
async fn records_of_one_site(sim: Sim) {
    let ledger = play(&sim, false);
    sim.faults(FaultPlan::storm().crash_at_every_write());
    sim.user(async move |user| {
        let all = json!({ "name": "shop", "account": "gold", "hosts": { "a": "1", "b": "2" } });
        ledger.apply(&user, "one", all).await;
        let changed =
            json!({ "name": "market", "account": "silver", "hosts": { "a": null, "b": "3", "c": "4" } });
        ledger.patch(&user, "one", changed).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

/// What two people do with their sites, which want the same name: the second one gets it when the first one is gone.
#[sim_test(schedules = 20)]
async fn records_of_two_sites(sim: Sim) {
    let ledger = play(&sim, false);
    sim.faults(FaultPlan::storm().crash_at_every_write());
    sim.expected_in_calm_run("the name shop is taken");
    let (first, second) = (ledger.clone(), ledger);
    sim.user(async move |user| {
        first.apply(&user, "one", json!({ "name": "shop", "account": "gold", "hosts": { "a": "1" } })).await;
        // Withdrawn, and wanted anew.
        first.patch(&user, "one", json!({ "account": null, "hosts": { "a": null, "b": "2" } })).await;
        first.patch(&user, "one", json!({ "account": "silver", "hosts": { "a": "3" } })).await;
        user.delete::<Site>("one").await;
        user.until_gone::<Site>("one").await;
    });
    let failed = sim.clone();
    sim.user(async move |user| {
        let all = json!({ "name": "shop", "account": "gold", "hosts": { "a": "1", "b": "2" } });
        second.apply(&user, "two", all).await;
        if !has_or_says(&user, "two").await {
            failed.fail("a site has no name, and doesn't say why not");
        }
        second.patch(&user, "two", json!({ "account": "silver", "hosts": { "b": null } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

/// Whether a site gets its name, or says why not.
async fn has_or_says(user: &User, name: &str) -> bool {
    for _ in 0..600 {
        let status = user.get::<Site>(name).await.and_then(|site| site.status).unwrap_or_default();
        if status.name_id.is_some() || status.message.is_some_and(|message| message.contains("is taken")) {
            return true;
        }
        user.pause(Duration::from_secs(1)).await;
    }
    false
}

/// A site that is replaced while the operator is behind: the records of both have different tokens.
#[sim_test(schedules = 20)]
async fn records_of_a_site_that_is_replaced(sim: Sim) {
    let ledger = play(&sim, false);
    sim.faults(FaultPlan::storm());
    sim.user(async move |user| {
        let all = json!({ "name": "shop", "account": "gold", "hosts": { "a": "1" } });
        ledger.apply(&user, "one", all.clone()).await;
        user.delete::<Site>("one").await;
        user.until_gone::<Site>("one").await;
        ledger.apply(&user, "one", all).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
