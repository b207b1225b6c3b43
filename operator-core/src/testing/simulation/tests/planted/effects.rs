//! NothingForbidden and OneRun: what is deleted, and who writes at the same time.

use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use super::*;
use crate::{
    operator::LeaderElection,
    testing::faults::{Fault, Rule, StatusAnswer},
};

/// The calm run deletes it, too, but in the end.
#[test]
fn a_deletion_in_the_middle_that_belongs_to_the_end_is_found() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            let maps: Api<ConfigMap> = Api::namespaced(context.client().clone(), "default");
            let mut map = ConfigMap::default();
            map.metadata.name = Some("a".to_owned());
            map.data = Some([("text".to_owned(), shelf.spec.text.clone())].into());
            let is_there = maps.get_opt("a").await?.is_some();
            if is_there && life.number > 1 {
                maps.delete("a", &DeleteParams::default()).await?;
            }
            if !is_there || life.number > 1 {
                maps.create(&PostParams::default(), &map).await?;
            }
            Ok(UpdateControl::no_update())
        })
    };
    let declare = || declare_with(run, |controller| controller.owns::<ConfigMap>().cleaner(true));
    let failure = failure("deletes", |sim| one_shelf(sim, declare()));
    found_only_by(&failure, Oracle::NothingForbidden, "configmaps/default/a is deleted before the end");
}

/// The operator says that each run has ended before the next one begins; what they have started has not.
#[test]
fn writes_of_what_outlives_its_run_are_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            let client = context.client().clone();
            let text = shelf.spec.text.clone();
            tokio::spawn(async move {
                let maps: Api<ConfigMap> = Api::namespaced(client, "default");
                let map = json!({
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "kept" }, "data": { "text": text },
                });
                drop(maps.patch("kept", &PatchParams::apply("planted").force(), &Patch::Apply(map)).await);
            });
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure_by_rules("outlives", |sim| async move {
        sim.without(Oracle::SameState);
        // It writes in each run, and so when the maximum interval is over.
        sim.without(Oracle::Quiet);
        sim.operator(declare(run));
        let slow = Rule::writes().resource("configmaps").fault(Fault::DelayAnswer(Duration::from_secs(1)));
        sim.faults(FaultPlan::none().rule(slow));
        sim.user(async |user| {
            user.apply(shelf("a", "one")).await;
            user.pause(Duration::from_millis(100)).await;
            user.apply(shelf("a", "two")).await;
            user.apply(shelf("a", "three")).await;
        });
        sim.settle().await;
    });
    found_only_by(&failure, Oracle::OneRun, "2 writes of configmaps/default/kept at the same time");
}

/// Its lease can't be renewed, and the runs go on for as long as they may.
#[test]
fn nobody_writes_without_the_lease() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            counted(&shelf, context).await?;
            Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(3)))
        })
    };
    let declare = declare(run);
    let report = explore("leads", rules_alone(), |sim| {
        let declare = declare.clone();
        async move {
            // It writes for ever, so that there is somebody to be kept from it.
            for oracle in [Oracle::SameState, Oracle::Quiet, Oracle::BoundedLoad] {
                sim.without(oracle);
            }
            sim.elects_leader();
            sim.operator(move || {
                declare().leader_election(LeaderElection::new("planted").namespace("default"))
            });
            let cut_off = sim.clone();
            sim.user(async move |user| {
                user.apply(shelf("a", "one")).await;
                user.pause(Duration::from_secs(20)).await;
                let down = Rule::writes().resource("leases").first(60);
                cut_off.faults(FaultPlan::none().rule(down.status(StatusAnswer::unavailable())));
                user.pause(Duration::from_secs(120)).await;
            });
            sim.settle().await;
            if !sim.world.is_calm() {
                assert!(sim.starts() > 1, "it has lost the lease");
            }
        }
    });
    report.unwrap_or_else(|failure| panic!("{failure}"));
}
