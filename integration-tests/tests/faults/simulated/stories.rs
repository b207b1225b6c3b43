//! Stories in which bad luck would reveal a bug of the library, each in a stated number of schedules: the patches in
//! `breaks` that name these tests contain such bugs. Two bugs in reconcilers are found here.

use std::sync::atomic::AtomicU64;

use integration_tests::prelude::*;
use operator_core::testing::{
    faults::{Fault, LineFault},
    simulation::{Failure, FaultPlan, Oracle, Report, Settings, Sim, explore},
};

use super::{Script, TestResource, maps, patient, said, saying, two_maps};

fn declare() -> OperatorBuilder {
    let workflow = maps().expect("the workflow is right");
    let controller =
        saying().defined().name("keeper").cleaner(true).workflow(&workflow).namespaces(["default"]);
    Operator::builder().register(controller)
}

fn settings(schedules: u64) -> Settings {
    Settings { threads: 2, ..Settings::schedules(schedules) }
}

#[expect(clippy::print_stderr, reason = "a test says within how many schedules it has found the bug")]
fn tell(bug: &str, failure: &Failure) {
    match failure.seed {
        Some(seed) => eprintln!("{bug}: found by schedule {}", seed + 1),
        None => eprintln!("{bug}: found by a crash at one of the writes"),
    }
    assert!(failure.diverges.is_none(), "{failure}");
    assert!(!failure.to_string().contains("without any bad luck"), "the calm run shows it: {failure}");
}

/// Checks that at least this number of schedules pass.
fn passes<A: Future<Output = ()>>(schedules: u64, story: impl Fn(Sim) -> A + Sync) {
    let report: Report =
        explore("right", settings(schedules), story).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(report.schedules >= schedules, "{report}");
}

/// Checks that a wrong story is found within this number of schedules, and that these pass with the right one.
fn wrong_is_found<A: Future<Output = ()>, B: Future<Output = ()>>(
    bug: &str,
    schedules: u64,
    right: impl Fn(Sim) -> A + Sync,
    wrong: impl Fn(Sim) -> B + Sync,
) -> Failure {
    passes(schedules, right);
    match explore(bug, settings(schedules), wrong) {
        Ok(report) => panic!("{bug} is not found: {report}"),
        Err(failure) => {
            tell(bug, &failure);
            *failure
        }
    }
}

fn oracles(failure: &Failure) -> Vec<Oracle> {
    failure.violations.iter().map(|violation| violation.oracle).collect()
}

/// Without a clean-up: primaries go at once, also in the middle of a run; and with one map, which is collected.
fn declare_without_cleaner() -> OperatorBuilder {
    let workflow = Workflow::builder().nodes((wanted_map("a"),)).build();
    let controller = saying().defined().name("keeper").workflow(workflow).namespaces(["default"]);
    Operator::builder().register(controller)
}

/// A primary that comes and goes while runs of it take their time.
async fn short_lives(sim: Sim) {
    sim.operator(declare_without_cleaner);
    let slow = Rule::writes().resource("configmaps").fault(Fault::DelayAnswer(Duration::from_secs(1)));
    sim.faults(FaultPlan::none().rule(slow));
    sim.user(async |user| {
        for value in ["first", "second", "third"] {
            user.apply(TestResource::named("one", value)).await;
            user.delete::<TestResource>("one").await;
        }
        user.apply(TestResource::named("one", "fourth")).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

/// Two primaries that are created and changed, and maps that others delete and edit at the same time.
async fn busy_life(sim: Sim, plan: FaultPlan) {
    sim.operator(declare);
    sim.faults(plan);
    sim.user(async |user| {
        user.apply(TestResource::named("one", "first")).await;
        for value in ["second", "third", "fourth"] {
            user.patch::<TestResource>("one", json!({ "spec": { "value": value } })).await;
        }
    });
    sim.user(async |user| {
        while user.get::<ConfigMap>("one-a").await.is_none() {
            user.pause(Duration::from_millis(50)).await;
        }
        for _ in 0..4 {
            user.patch::<ConfigMap>("one-a", json!({ "data": { "value": "edited" } })).await;
        }
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

#[test]
fn runs_that_fail_are_repeated() {
    passes(30, |sim| busy_life(sim, FaultPlan::none().requests(10)));
}

#[test]
fn what_a_later_list_does_not_show_is_deleted() {
    passes(5, |sim| async move {
        sim.operator(declare);
        // The deletion is in the gap before the list that follows 410.
        sim.faults(
            FaultPlan::none()
                .rule(Rule::watch("configmaps").nth(3).event(LineFault::Lose))
                .rule(Rule::watch("configmaps").nth(4).event(LineFault::Gone)),
        );
        sim.user(async |user| {
            user.apply(TestResource::named("one", "first")).await;
            user.pause(Duration::from_secs(5)).await;
            user.delete::<ConfigMap>("one-b").await;
            user.apply(TestResource::named("two", "first")).await;
        });
        sim.settle().await;
        sim.assert_same_as_calm_run();
    });
}

/// Cleans up by itself: first the maps and then the finalizer, or the other way round.
fn cleaning(finalizer_first: bool) -> OperatorBuilder {
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            context.run().await?;
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let script = script.cleanup(move |_, primary, context| {
        Box::pin(async move {
            if finalizer_first {
                let operations = context.resource_operations();
                for finalizer in primary.finalizers() {
                    operations.remove_finalizer(finalizer).await?;
                }
            }
            let run = context.clean_up().await?;
            Ok(match run.all_deleted() {
                true => Removal::Done,
                false => Removal::keep(),
            })
        })
    });
    let controller = script
        .defined()
        .name("keeper")
        .cleaner(true)
        .workflow(two_maps().explicit_invocation())
        .namespaces(["default"]);
    Operator::builder().register(controller)
}

#[test]
fn a_finalizer_that_goes_first_is_found_by_the_crashes_at_each_write() {
    let story = |finalizer_first| {
        move |sim: Sim| async move {
            sim.operator(move || cleaning(finalizer_first));
            sim.faults(FaultPlan::none().crash_at_every_write());
            sim.user(async |user| {
                user.apply(TestResource::named("one", "first")).await;
                user.delete::<TestResource>("one").await;
                user.until_gone::<TestResource>("one").await;
            });
            sim.settle().await;
            sim.assert_same_as_calm_run();
        }
    };
    let failure = wrong_is_found("FinalizerFirst", 0, story(false), story(true));
    assert!(oracles(&failure).contains(&Oracle::SameState), "{failure}");
    assert!(failure.tape.to_string().contains("crash point"), "{failure}");
}

#[test]
fn a_change_during_a_write_is_not_taken_for_its_echo() {
    passes(30, |sim| busy_life(sim, FaultPlan::none().requests(10).watch_lag(Duration::from_millis(200))));
}

#[test]
fn a_primary_that_comes_back_waits_for_the_run_of_the_former_one() {
    passes(30, short_lives);
}

#[test]
fn the_end_of_a_primary_during_its_run_is_noticed() {
    passes(30, short_lives);
}

/// Writes into the status how often it has failed: each failure costs a write.
fn complaining() -> OperatorBuilder {
    let failures = Arc::new(AtomicU64::new(0));
    let script = saying().on_error(move |_, _, error| {
        let times = failures.fetch_add(1, Ordering::Relaxed) + 1;
        said(format!("failed {times} times: {error}"))
    });
    let controller = script
        .defined()
        .name("keeper")
        .cleaner(true)
        .retry(patient().expect("the delays are right"))
        .workflow(two_maps())
        .namespaces(["default"]);
    Operator::builder().register(controller)
}

#[test]
fn a_run_that_fails_waits_before_the_next() {
    passes(3, |sim| async move {
        sim.operator(complaining);
        // The server doesn't take the second map for as long as there is bad luck, or so.
        let down = Rule::writes().resource("configmaps").name("one-b").first(500);
        sim.faults(FaultPlan::none().rule(down.status(StatusAnswer::unavailable())));
        sim.user(async |user| drop(user.apply(TestResource::named("one", "first")).await));
        sim.settle().await;
        sim.assert_same_as_calm_run();
    });
}

/// Writes the status before the map that it is about, and trusts it from then on; or the other way round.
fn hasty(status_first: bool) -> Script {
    Script::new(move |_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let operations = context.resource_operations();
            let status = said(primary.spec.value.clone());
            let map = config_map(&*primary, context, &primary.spec.value);
            if status_first {
                if primary.status.as_ref() == Some(&status) {
                    return Ok(Said::no_update());
                }
                let mut written = (*primary).clone();
                written.status = Some(status.clone());
                operations.update_status(&written).await?;
            }
            operations.server_side_apply(&map).await?;
            Ok(Said::status(status))
        })
    })
}

#[test]
fn a_status_before_its_child_is_found_by_the_crashes_at_each_write() {
    let story = |status_first| {
        move |sim: Sim| async move {
            sim.operator(move || {
                let controller = hasty(status_first).defined().name("hasty").owns::<ConfigMap>();
                Operator::builder().register(controller.namespaces(["default"]))
            });
            sim.faults(FaultPlan::none().crash_at_every_write());
            sim.user(async |user| drop(user.apply(TestResource::named("one", "first")).await));
            sim.settle().await;
            sim.assert_same_as_calm_run();
        }
    };
    explore("child first", settings(0), story(false)).unwrap_or_else(|failure| panic!("{failure}"));
    let failure = explore("status first", settings(0), story(true)).expect_err("the bug is found");
    tell("StatusFirst", &failure);
    assert_eq!(oracles(&failure), [Oracle::SameState], "{failure}");
    assert_eq!(failure.tape.weight(), 1, "one crash is all it needs: {failure}");
}
