//! The sweeps find what they are for: operators that no single crash shows to be wrong, but somebody who acts at the wrong
//! moment, or a second fault.

use std::{collections::BTreeSet, error::Error};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
};
use parking_lot::Mutex;
use serde_json::json;

use super::fault::FAULTS;
use crate::{
    controller::Controller,
    operator::{Operator, OperatorBuilder},
    reconciler::{BoxError, Context, Removal, UpdateControl, traits::Cleaner},
    testing::simulation::{
        Failure, FaultPlan, Oracle, Report, Settings, Sim, explore,
        tests::{Shelf, ShelfStatus, child, put_status, shelf},
    },
};

type Failed = Box<dyn Error + Send + Sync>;

/// What the operator does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// Whatever has been done to the primary meanwhile is overwritten.
    Overwrites,
    /// A child whose write has failed, and which can't be looked at, is taken to be there.
    Assumes,
}

struct Shelves {
    bug: Bug,
    doubted: Mutex<BTreeSet<String>>,
}

impl Shelves {
    async fn write_child(&self, shelf: &Shelf, context: &Context<Shelf>) -> Result<(), Failed> {
        let owner = context.owner_reference(shelf).expect("a primary has a uid");
        let child = child(shelf, &owner);
        if self.bug == Bug::Assumes && self.doubted.lock().remove(&shelf.name_any()) {
            let maps = Api::<ConfigMap>::namespaced(context.client().clone(), "default");
            // Wrong: an error of the look says nothing.
            if !matches!(maps.get_opt(&shelf.name_any()).await, Ok(None)) {
                return Ok(());
            }
        }
        let applied = context.resource_operations().server_side_apply(&child).await;
        if applied.is_err() {
            self.doubted.lock().insert(shelf.name_any());
        }
        applied?;
        Ok(())
    }
}

impl Cleaner for Shelves {
    type Primary = Shelf;

    async fn reconcile(
        &self,
        shelf: &Shelf,
        context: &mut Context<Shelf>,
    ) -> Result<UpdateControl<Shelf>, BoxError> {
        if self.bug == Bug::Overwrites && shelf.annotations().get("seen") != Some(&shelf.spec.text) {
            let shelves = Api::<Shelf>::namespaced(context.client().clone(), "default");
            // Wrong: the annotation alone would do, or the version that it was made from.
            let metadata = json!({ "annotations": { "seen": shelf.spec.text } });
            let patch = Patch::Merge(json!({ "metadata": metadata, "spec": shelf.spec }));
            shelves.patch(&shelf.name_any(), &PatchParams::default(), &patch).await?;
        }
        self.write_child(shelf, context).await?;
        context.put(ShelfStatus {
            text: Some(shelf.spec.text.clone()),
            observed_generation: shelf.metadata.generation,
        });
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, shelf: &Shelf, context: &mut Context<Shelf>) -> Result<Removal, BoxError> {
        if let Some(child) = context.secondary_named::<ConfigMap>(&shelf.name_any())? {
            context.resource_operations().delete(&*child).await?;
        }
        Ok(Removal::Done)
    }
}

fn operator(bug: Bug, cleans: bool) -> OperatorBuilder {
    let shelves = Shelves { bug, doubted: Mutex::default() };
    let controller =
        Controller::of::<Shelf>().reconciler(shelves).name("shelves").owns::<ConfigMap>().status(put_status);
    let controller = controller.cleaner(cleans);
    Operator::builder().register(controller)
}

fn settings() -> Settings {
    Settings { threads: 2, ..Settings::schedules(0) }
}

/// A shelf is made, and gets another text.
async fn two_texts(sim: Sim, bug: Bug, plan: FaultPlan) {
    sim.operator(move || operator(bug, true));
    sim.faults(plan);
    sim.user(async |user| {
        user.apply(shelf("a", "one")).await;
        user.patch::<Shelf>("a", json!({ "spec": { "text": "two" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

fn acts() -> FaultPlan {
    FaultPlan::none().somebody_acts_before_every_request()
}

/// A shelf is made.
async fn one_text(sim: Sim, bug: Bug, plan: FaultPlan) {
    sim.operator(move || operator(bug, false));
    sim.faults(plan);
    sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

fn passes(found: Result<Report, Box<Failure>>) -> Report {
    found.unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn whoever_acts_before_whichever_request_the_end_is_that_of_a_calm_run() {
    let report = passes(explore("acts", settings(), |sim| two_texts(sim, Bug::None, acts())));
    let times = |kind: &str| report.faults.get(kind).copied().unwrap_or(0);
    let deeds =
        ["deletes", "replaces", "edits the spec", "edits labels", "takes a finalizer", "strips the owners"]
            .map(|deed| times(&format!("somebody: {deed}")));
    // Its children have owners, and no marks.
    let (owners, of_all) = deeds.split_last().expect("six of them");
    assert!(*owners >= 2 && of_all.iter().all(|times| *times >= 5), "{report:?}");
    assert_eq!(deeds.iter().sum::<u64>(), report.schedules, "one act in each schedule");
}

#[test]
fn whichever_two_requests_fail_the_end_is_that_of_a_calm_run() {
    let plan = || FaultPlan::none().pairs_of_faults();
    let report = passes(explore("pairs", settings(), |sim| one_text(sim, Bug::None, plan())));
    let faults: u64 = report.faults.values().sum();
    assert!(report.schedules > 150 && faults > report.schedules + 30, "a second fault is met: {report:?}");
    let kinds = |of: &str| report.faults.keys().filter(|kind| kind.starts_with(of)).count();
    // Singles meet all that a request can meet.
    assert_eq!((kinds("write: "), kinds("watch: "), kinds("read: ")), (10, 8, 12), "{report:?}");
}

#[test]
fn what_overwrites_an_edit_is_found_by_somebody_who_edits_just_before() {
    let crashes = FaultPlan::none().crash_at_every_write();
    passes(explore("overwrites", settings(), |sim| two_texts(sim, Bug::Overwrites, crashes.clone())));
    let found = explore("overwrites", settings(), |sim| two_texts(sim, Bug::Overwrites, acts()));
    let failure = found.expect_err("the edit is lost");
    let first = &failure.violations[0];
    assert_eq!(first.oracle, Oracle::SameState, "{failure}");
    let lost = r#"shelfs/default/a .spec .text is "two", and "two-somebody" in the calm run"#;
    assert!(first.message.contains(lost), "{failure}");
    let edit = r#"edit shelfs/default/a: /spec/text is "two-somebody", just before patch shelfs/default/a"#;
    assert!(failure.story.iter().any(|line| line.contains(edit)), "{failure}");
    assert!(failure.diverges.is_none(), "{failure}");
    let again = Settings { tape: Some(failure.tape.clone()), ..settings() };
    let again = explore("overwrites again", again, |sim| two_texts(sim, Bug::Overwrites, acts()));
    assert_eq!(again.expect_err("the same").violations, failure.violations);
}

#[test]
fn what_takes_a_failed_look_for_an_answer_is_found_by_a_second_fault() {
    let crashes = FaultPlan::none().crash_at_every_write();
    passes(explore("assumes", settings(), |sim| one_text(sim, Bug::Assumes, crashes.clone())));
    let plan = || FaultPlan::none().pairs_of_faults();
    let found = explore("assumes", settings(), |sim| one_text(sim, Bug::Assumes, plan()));
    let failure = found.expect_err("the child is never made");
    assert_eq!(failure.violations[0].oracle, Oracle::SameState, "{failure}");
    assert!(failure.violations[0].message.contains("configmaps/default/a doesn't exist"), "{failure}");
    assert_eq!(failure.tape.0.get(FAULTS).map(Vec::len), Some(4), "no single fault: {failure}");
}
