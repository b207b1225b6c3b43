//! The simulation finds what it is for: an operator that is right passes, and each planted bug is found by its oracle.

mod planted;

use std::sync::Arc;

use futures::FutureExt;
use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{CustomResource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::{
    controller::Controller,
    operator::Operator,
    reconciler::{BoxError, Context, Reconciler, UpdateControl, run::Run},
    testing::faults::{Rule, Verb},
};

/// Has a text, which shall stand in a config map.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "test.operator-core.io", version = "v1", kind = "Shelf", namespaced, status = "ShelfStatus")]
pub(super) struct ShelfSpec {
    pub(super) text: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShelfStatus {
    pub(super) text: Option<String>,
    pub(super) observed_generation: Option<i64>,
}

/// What the operator does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// The status is written before the child, and believed from then on.
    StatusFirst,
    /// A new text is a new config map.
    Recreates,
    /// Each run writes something else.
    NeverDone,
    /// The text is logged.
    LogsText,
    Panics,
}

struct Shelves {
    bug: Bug,
}

pub(super) fn shelf(name: &str, text: &str) -> Shelf {
    Shelf::new(name, ShelfSpec { text: text.to_owned() })
}

pub(super) fn child(shelf: &Shelf, owner: &OwnerReference) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(shelf.name_any()),
            namespace: shelf.namespace(),
            owner_references: Some(vec![owner.clone()]),
            ..ObjectMeta::default()
        },
        data: Some([("text".to_owned(), shelf.spec.text.clone())].into()),
        ..ConfigMap::default()
    }
}

impl Reconciler for Shelves {
    type Primary = Shelf;

    async fn reconcile(
        &self,
        shelf: &Shelf,
        context: &mut Context<Shelf>,
    ) -> Result<UpdateControl<Shelf>, BoxError> {
        let operations = context.resource_operations();
        let owner = context.owner_reference(shelf).expect("a primary has a uid");
        let mut child = child(shelf, &owner);
        let status = ShelfStatus { text: Some(shelf.spec.text.clone()), ..ShelfStatus::default() };
        match self.bug {
            Bug::None => {}
            Bug::StatusFirst => {
                if shelf.status.as_ref() == Some(&status) {
                    return Ok(UpdateControl::no_update());
                }
                let mut written = shelf.clone();
                written.status = Some(status.clone());
                operations.update_status(&written).await?;
            }
            Bug::Recreates => {
                if let Some(old) = context.secondary_named::<ConfigMap>(&shelf.name_any())?
                    && old.data != child.data
                {
                    operations.delete(&*old).await?;
                }
            }
            Bug::NeverDone => {
                let before = context.secondary_named::<ConfigMap>(&shelf.name_any())?;
                let count = before.and_then(|map| map.data.as_ref()?.get("count")?.parse().ok()).unwrap_or(0);
                let count = (count + 1) % 1000;
                child.data.get_or_insert_default().insert("count".to_owned(), count.to_string());
                operations.server_side_apply(&child).await?;
                return Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(240)));
            }
            Bug::LogsText => tracing::trace!(text = shelf.spec.text, "reconciling"),
            Bug::Panics => assert_ne!(shelf.spec.text, "two", "two is one too many"),
        }
        operations.server_side_apply(&child).await?;
        context.put(status);
        Ok(UpdateControl::no_update())
    }
}

/// The status that the reconciler has put into the run.
pub(super) fn put_status(_: &Shelf, run: &Run<Shelf>) -> Option<ShelfStatus> {
    run.data::<ShelfStatus>().filter(|_| run.error().is_none()).map(|status| ShelfStatus::clone(&status))
}

fn operator(bug: Bug) -> OperatorBuilder {
    let shelves = Shelves { bug };
    Operator::builder().register(
        Controller::of::<Shelf>().reconciler(shelves).name("shelves").owns::<ConfigMap>().status(put_status),
    )
}

async fn story(sim: Sim, bug: Bug) {
    sim.operator(move || operator(bug));
    sim.faults(FaultPlan::storm().crash_at_every_write());
    sim.user(async |user| {
        user.apply(shelf("a", "one")).await;
        user.apply(shelf("b", "one")).await;
        user.patch::<Shelf>("a", json!({ "spec": { "text": "two" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

fn settings(schedules: u64) -> Settings {
    Settings { threads: 2, ..Settings::schedules(schedules) }
}

fn found(bug: Bug, schedules: u64) -> Failure {
    let name = format!("{bug:?}");
    match explore(&name, settings(schedules), |sim| story(sim, bug)) {
        Ok(report) => panic!("{bug:?} is not found: {report}"),
        Err(failure) => *failure,
    }
}

fn oracles(failure: &Failure) -> Vec<Oracle> {
    failure.violations.iter().map(|violation| violation.oracle).collect()
}

#[test]
fn an_operator_that_is_right_is_right_in_every_schedule() {
    match explore("right", settings(40), |sim| story(sim, Bug::None)) {
        Ok(report) => assert!(report.schedules > 40 && report.faults.len() > 20, "{report:?}"),
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn a_status_written_too_early_is_found_and_its_story_is_short() {
    let failure = found(Bug::StatusFirst, 0);
    assert!(oracles(&failure).contains(&Oracle::SameState), "{failure}");
    let text = failure.to_string();
    assert!(text.contains("crash after it is done") || text.contains("crash before it is sent"), "{text}");
    assert!(text.contains("SIM_TAPE="), "{text}");
    assert_eq!(failure.diverges, None, "{text}");
    assert_eq!(failure.tape.weight(), 1, "{text}");
}

#[test]
fn a_tape_replays_what_it_was_made_of() {
    let first = found(Bug::StatusFirst, 0);
    let again = Settings { tape: Some(first.tape.clone()), ..settings(0) };
    let again = explore("replayed", again, |sim| story(sim, Bug::StatusFirst)).expect_err("the same failure");
    assert_eq!(again.violations, first.violations);
    assert_eq!(again.story, first.story);
}

/// The calm run deletes and creates as well, so it is SameState or a second sight that has to find it; here the calm run is made
/// without the change of the text.
#[test]
fn an_object_that_is_deleted_and_made_again_is_found() {
    let test = |sim: Sim| async move {
        let calm = sim.world.is_calm();
        sim.operator(|| operator(Bug::Recreates));
        sim.user(async move |user| {
            if calm {
                user.apply(shelf("a", "two")).await;
            } else {
                user.apply(shelf("a", "one")).await;
                user.pause(Duration::from_secs(5)).await;
                user.apply(shelf("a", "two")).await;
            }
        });
        sim.settle().await;
    };
    let failure = explore("recreates", settings(1), test).expect_err("it is found");
    assert_eq!(oracles(&failure), [Oracle::NothingForbidden], "{failure}");
}

#[test]
fn an_operator_that_is_never_done_is_found_without_any_bad_luck() {
    let failure = found(Bug::NeverDone, 0);
    assert!(oracles(&failure).contains(&Oracle::Quiet), "{failure}");
    assert!(failure.to_string().contains("without any bad luck"), "{failure}");
}

#[test]
fn a_secret_in_a_log_is_found_at_every_level() {
    let test = |sim: Sim| async move {
        sim.secret("hunter2");
        sim.without(Oracle::SameState);
        sim.operator(|| operator(Bug::LogsText));
        sim.user(async |user| drop(user.apply(shelf("a", "hunter2")).await));
        sim.settle().await;
    };
    let failure = explore("logs", settings(0), test).expect_err("it is found");
    assert!(oracles(&failure).iter().all(|oracle| *oracle == Oracle::NoSecret), "{failure}");
    let told: Vec<_> = failure.violations.iter().map(|violation| violation.message.as_str()).collect();
    assert!(told.iter().any(|message| message.contains("simulation::tests at level TRACE")), "{told:?}");
    assert!(told.contains(&"configmaps/default/a"), "{told:?}");
    // What is written may be overwritten before anybody looks.
    assert!(told.iter().any(|message| message.starts_with("sent in apply configmaps")), "{told:?}");
}

#[test]
fn a_panic_is_found() {
    let failure = found(Bug::Panics, 0);
    assert!(oracles(&failure).contains(&Oracle::Alive), "{failure}");
}

#[test]
fn an_assertion_of_the_test_fails_with_its_own_words() {
    let test = |sim: Sim| async move {
        sim.operator(|| operator(Bug::None));
        sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
        sim.settle().await;
        assert_eq!(sim.starts(), 7, "seven lives");
    };
    let failure = explore("asserts", settings(0), test).expect_err("one life");
    assert_eq!(oracles(&failure), [Oracle::Test]);
    assert!(failure.violations[0].message.contains("seven lives"), "{failure}");
    assert!(failure.violations[0].message.contains("tests.rs:"), "{failure}");
}

#[test]
fn a_rule_happens_in_every_schedule_and_not_in_the_calm_run() {
    let lost = Arc::new(parking_lot::Mutex::new(0));
    let test = |sim: Sim| {
        let lost = Arc::clone(&lost);
        async move {
            sim.operator(|| operator(Bug::None));
            let rule = Rule::on(Verb::Apply).resource("configmaps").nth(1).answer_lost();
            sim.faults(FaultPlan::none().rule(rule.clone()));
            sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
            sim.settle().await;
            *lost.lock() += rule.fired();
        }
    };
    let report = explore("rule", settings(20), test).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!((report.schedules, *lost.lock()), (20, 20));
}

#[test]
fn what_is_left_of_a_crashed_operator_writes_nothing() {
    let test = |sim: Sim| async move {
        sim.operator(|| operator(Bug::None));
        sim.faults(FaultPlan::none().crash_at_every_write());
        sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
        sim.settle().await;
        let calls = sim.world.record.calls();
        let starts = calls.iter().filter(|call| call.by_operator()).map(|call| call.by).collect::<Vec<_>>();
        assert!(starts.is_sorted(), "an earlier incarnation writes after a later one");
        if !sim.world.is_calm() {
            assert_eq!(sim.starts(), 2);
        }
    };
    let report = explore("zombie", settings(0), test).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.schedules, 4, "before and after two writes");
}

/// Schedules begin where the calm run was when its definitions were installed, but not when the test has done something
/// before that.
#[test]
fn a_definition_is_installed_in_every_schedule_with_and_without_a_short_cut() {
    for writes_first in [false, true] {
        let test = |sim: Sim| async move {
            let maps = kube::Api::<ConfigMap>::namespaced(sim.client(), "default");
            if writes_first {
                let name = format!("before-{}", sim.choices().next("name", 1000));
                let mut map = ConfigMap::default();
                map.metadata.name = Some(name);
                maps.create(&kube::api::PostParams::default(), &map).await.expect("it is created");
            }
            sim.without(Oracle::SameState);
            sim.operator(|| operator(Bug::None));
            sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
            sim.settle().await;
            let found = maps.list(&kube::api::ListParams::default()).await.expect("a list").items;
            assert_eq!(found.len(), if writes_first { 2 } else { 1 }, "nothing of the calm run is left");
            let calls = sim.world.record.calls();
            let about = |resource: &str| {
                let writes = calls.iter().filter(|call| call.target.verb.is_write());
                writes.filter(|call| call.target.resource == resource).count()
            };
            assert_eq!((about("namespaces"), about("customresourcedefinitions")), (1, 1));
        };
        let report = explore("beginning", settings(3), test).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(report.schedules, 3);
    }
}

#[tokio::test]
async fn an_operator_and_a_resource_in_one_line() {
    assert_eventually_stable(|| operator(Bug::None), shelf("a", "one")).await;
}

/// Prints its trace when it is asked to by the test below.
#[test]
fn the_same_seed_is_the_same_trace_in_two_processes() {
    const ASKED: &str = "SIMULATION_TRACE_ONLY";
    let traces =
        || (0..5).map(|seed| trace(seed, |sim| story(sim, Bug::None)).join("\n")).collect::<Vec<_>>();
    let own = traces();
    if let Some(file) = std::env::var_os(ASKED) {
        std::fs::write(file, own.join("\n\n")).expect("the file can be written");
        return;
    }
    assert!(own.windows(2).any(|pair| pair[0] != pair[1]), "seeds differ from each other");
    assert_eq!(own, traces(), "twice in one process");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace");
    let other = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "testing::simulation::tests::the_same_seed_is_the_same_trace_in_two_processes"])
        .env(ASKED, &file)
        .output()
        .expect("the test can be started again");
    assert!(other.status.success(), "{}", String::from_utf8_lossy(&other.stdout));
    let other = std::fs::read_to_string(&file).expect("the other process has written its trace");
    assert_eq!(own.join("\n\n"), other, "in another process");
}

/// The client repeats a GET that is refused for now after pauses of milliseconds, which are drawn as everything is.
#[test]
fn what_a_refused_read_waits_for_is_in_the_tape() {
    let answered = |jitter: u32| {
        let tape = Tape::parse(&format!(
            "# the first jitter is of the thread, the second of the operator
jitter\t0 {jitter}
# a status without an answer, after which the next run looks at the live primary, and is refused with 504
request apply shelfs\t1
request get shelfs\t4x5"
        ));
        let choices = Choices::replayed(tape.expect("a tape"));
        let test = |sim: Sim| story(sim, Bug::None).boxed_local();
        let calm = Arc::new(
            schedule::run(&test, &Choices::replayed(Tape::calm()), None, &world::Apart::default()).run,
        );
        let outcome = schedule::run(&test, &choices, Some(&calm), &world::Apart::default());
        assert_eq!(outcome.faults.get("read: answered 504"), Some(&4));
        let trace = outcome.trace();
        let read = trace.iter().position(|call| call.contains("operator 1: get shelfs/default/a -> 200"));
        (read.map(|read| trace[read].clone()).expect("it is read in the end"), trace)
    };
    let (read, trace) = answered(7);
    assert_eq!(answered(7).1, trace);
    assert_ne!(answered(8).0, read, "another chance, other pauses");
}
