//! The luck of the cluster's controllers: an operator that is right copes with it, and two that are not are found.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;

use super::{
    super::{Objects, User, cluster::Readiness, trace},
    *,
};
use crate::{
    resource::ObjectKey,
    testing::faults::{Rule, StatusAnswer},
};

/// Applies the Deployment of a shelf.
async fn deployed(shelf: &Shelf, context: &Context<Shelf>) -> Result<(), BoxError> {
    let owner = context.owner_reference(shelf).ok_or("a primary has a uid")?;
    let labels = json!({ "app": "shelf" });
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": { "name": "a", "namespace": "default", "ownerReferences": [owner] },
        "spec": {
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels, "annotations": { "text": shelf.spec.text } },
                "spec": { "containers": [{ "name": "web", "image": "web" }] },
            },
        },
    }))?;
    context.resource_operations().server_side_apply(&deployment).await?;
    Ok(())
}

fn is_ready(deployment: &Deployment) -> bool {
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation == deployment.metadata.generation
            && status.updated_replicas == Some(1)
            && status.available_replicas == Some(1)
            && status.replicas == Some(1)
    })
}

fn says(shelf: &Shelf, text: &str) -> ShelfStatus {
    ShelfStatus { text: Some(text.to_owned()), observed_generation: shelf.metadata.generation }
}

const RIGHT: Run = |_, shelf, context| {
    Box::pin(async move {
        deployed(&shelf, context).await?;
        let ready = context.secondary_named::<Deployment>("a")?.is_some_and(|web| is_ready(&web));
        context.put(says(&shelf, if ready { "ready" } else { "waits" }));
        Ok(UpdateControl::no_update())
    })
};

const TOO_EARLY: Run = |_, shelf, context| {
    Box::pin(async move {
        deployed(&shelf, context).await?;
        context.put(says(&shelf, "ready"));
        Ok(UpdateControl::no_update())
    })
};

/// Doesn't look again at what was ready once.
const ONCE: Run = |_, shelf, context| {
    Box::pin(async move {
        deployed(&shelf, context).await?;
        let ready = context.secondary_named::<Deployment>("a")?.is_some_and(|web| is_ready(&web));
        let said = says(&shelf, "ready");
        let text = if ready || shelf.status.as_ref() == Some(&said) { "ready" } else { "waits" };
        context.put(says(&shelf, text));
        Ok(UpdateControl::no_update())
    })
};

fn says_whether_it_is_ready(objects: &Objects) -> Result<(), String> {
    for shelf in objects.all::<Shelf>() {
        let ready = objects.get::<Deployment>(&ObjectKey::of(&shelf)).is_some_and(|web| is_ready(&web));
        let said = shelf.status.and_then(|status| status.text).is_some_and(|text| text == "ready");
        if ready != said {
            return Err(format!("it says ready={said}, and ready={ready} is true"));
        }
    }
    Ok(())
}

async fn two_texts(user: User) {
    user.apply(shelf("a", "one")).await;
    user.apply(shelf("a", "two")).await;
}

async fn story(sim: Sim, run: Run) {
    sim.operator(declare_with(run, |controller| controller.owns::<Deployment>()));
    sim.invariant(says_whether_it_is_ready);
    sim.faults(FaultPlan::storm());
    sim.user(two_texts);
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

#[test]
fn readiness_is_late_or_goes_or_never_comes_in_a_third_of_all_storms() {
    let found = explore("readiness", settings(60), |sim| story(sim, RIGHT));
    let report = found.unwrap_or_else(|failure| panic!("{failure}"));
    let readiness = report.readiness;
    assert_eq!(readiness.waits, 60, "each of them waits for its Deployment: {report}");
    assert!(3 * readiness.any >= readiness.waits, "{report}");
    assert!(readiness.late >= 5 && readiness.went >= 5 && readiness.never >= 5, "{report}");
    assert!(
        crate::testing::simulation::cluster::kinds().all(|kind| report.faults.contains_key(kind)),
        "{report}"
    );
    assert!(report.to_string().contains("of 60 storms readiness was late"), "{report}");
}

#[test]
fn a_status_that_says_ready_too_early_is_found() {
    let failure = failure_of("too early", settings(40), |sim| story(sim, TOO_EARLY));
    found_by(&failure, Oracle::Test, "it says ready=true, and ready=false is true");
}

#[test]
fn a_status_that_stays_when_readiness_has_gone_is_found() {
    let failure = failure_of("once", settings(60), |sim| story(sim, ONCE));
    found_by(&failure, Oracle::Test, "it says ready=true, and ready=false is true");
    assert!(failure.to_string().contains("cluster: no Pod is ready from here on"), "{failure}");
}

/// Nobody has to know how readiness ends in the calm run: here it is the schedules that are wrong.
#[test]
fn a_failure_says_what_luck_it_had_and_is_replayed_with_it() {
    let test = |sim: Sim| async move {
        let is_calm = sim.world.is_calm();
        sim.invariant(move |objects| match objects.all::<Shelf>().is_empty() || is_calm {
            true => Ok(()),
            false => says_whether_it_is_ready(objects),
        });
        sim.operator(declare_with(ONCE, |controller| controller.owns::<Deployment>()));
        sim.faults(FaultPlan::storm());
        sim.user(two_texts);
        sim.settle().await;
    };
    let failure = failure_of("luck", settings(60), test);
    let text = failure.to_string();
    assert!(text.contains("cluster: Pods become unready"), "{text}");
    assert_eq!(failure.diverges, None, "{text}");
    let lanes: Vec<&String> = failure.tape.0.keys().collect();
    assert_eq!(lanes, ["cluster", "cluster for good"], "nothing else is needed: {text}");
    let again = Settings { tape: Some(failure.tape.clone()), ..settings(0) };
    let again = explore("luck again", again, test).expect_err("the same failure");
    assert_eq!((again.violations, again.story), (failure.violations, failure.story));
}

/// The Deployment of the schedule has never seen the first text, and has one ReplicaSet less.
#[test]
fn a_rollout_that_does_not_end_may_have_begun_in_another_way() {
    let test = |sim: Sim| async move {
        sim.operator(declare_with(RIGHT, |controller| controller.owns::<Deployment>()));
        let refused = Rule::writes().resource("deployments").first(1).status(StatusAnswer::unavailable());
        sim.faults(FaultPlan::storm().rule(refused));
        sim.user(two_texts);
        sim.settle().await;
        let state = sim.world.states.borrow().last().cloned();
        let ends = format!("{state:?}");
        assert_eq!(
            ends.contains("ProgressDeadlineExceeded"),
            sim.world.cluster.readiness == Readiness::NeverComes
        );
    };
    let tape = Tape::parse("cluster\t6\ncluster for good\t1\nuser pause\t3 3").expect("a tape");
    let settings = Settings { tape: Some(tape), ..settings(0) };
    let report = explore("rollouts", settings, test).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.schedules, 1, "{report}");
}

#[test]
fn the_same_seed_has_the_same_luck() {
    for seed in 0..6 {
        let calls = || trace(seed, |sim| story(sim, RIGHT));
        assert_eq!(calls(), calls(), "seed {seed}");
    }
}

/// There is no calm run in which readiness never comes, as the test doesn't end then.
#[test]
fn a_test_may_wait_for_readiness_itself() {
    let test = |sim: Sim| async move {
        sim.operator(declare_with(RIGHT, |controller| controller.owns::<Deployment>()));
        sim.faults(FaultPlan::storm());
        sim.user(async |user| {
            user.apply(shelf("a", "one")).await;
            let is_ready =
                |shelf: Shelf| shelf.status.and_then(|status| status.text).as_deref() == Some("ready");
            while !user.get::<Shelf>("a").await.is_some_and(is_ready) {
                user.pause(std::time::Duration::from_secs(1)).await;
            }
            user.apply(shelf("a", "two")).await;
        });
        sim.settle().await;
    };
    let report = explore("waits", settings(30), test).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.readiness.waits, 30, "{report}");
}
