//! The times of conditions, and those of others.

use std::sync::atomic::AtomicI64;

use integration_tests::prelude::*;
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use operator_core::environment::WallClock;

use super::{retries, status};

/// Type and transition time of each condition.
fn times(one: &TestResource) -> Vec<(String, Timestamp)> {
    let conditions = one.status.iter().flat_map(|status| &status.conditions);
    conditions.map(|of| (of.type_.clone(), of.last_transition_time.0)).collect()
}

/// A clock that goes on by seconds, when the test says so.
#[derive(Debug)]
struct Seconds(AtomicI64);

impl WallClock for Seconds {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).expect("a time of this century")
    }
}

impl Seconds {
    fn go_on(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[operator_test]
async fn a_time_stays_while_the_status_of_its_condition_stays() -> Result<()> {
    let scene = Scene::new("condition-times").await?;
    scene.failures.expect("no luck");
    let script = Script::new(|_, one: Arc<TestResource>, _| {
        Box::pin(async move {
            if one.spec.value == "bad" {
                bail!("no luck");
            }
            Ok(operator_core::UpdateControl::no_update())
        })
    });
    let clock = Arc::new(Seconds(AtomicI64::new(1_767_225_600)));
    let started = async || -> Result<_> {
        let controller = scene.controller(&script).status(status).retry(retries(0)?);
        let builder = scene.operator().wall_clock(Arc::clone(&clock) as _).register(controller);
        Ok(TestOperator::start(builder).await?)
    };
    let operator = started().await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let first = scene.resources.get("one").await?;
    clock.go_on();
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    operator.settled().await?;
    let second = scene.resources.get("one").await?;
    assert_eq!(times(&second), times(&first), "another generation");
    let observed = |one: &TestResource| {
        let conditions = one.status.iter().flat_map(|status| &status.conditions);
        conditions.map(|of| of.observed_generation).collect::<Vec<_>>()
    };
    assert_eq!((observed(&first), observed(&second)), (vec![Some(1); 3], vec![Some(2); 3]));

    operator.stop().await;
    clock.go_on();
    scene.patch("one", json!({ "spec": { "value": "third" } })).await?;
    let operator = started().await?;
    operator.settled().await?;
    let third = scene.resources.get("one").await?;
    assert_eq!(observed(&third), [Some(3); 3], "the operator has written after its restart");
    assert_eq!(times(&third), times(&first), "another operator");

    clock.go_on();
    scene.patch("one", json!({ "spec": { "value": "bad" } })).await?;
    operator.settled().await?;
    let (bad, first) = (times(&scene.resources.get("one").await?), times(&first));
    let later: Vec<_> = bad
        .iter()
        .zip(&first)
        .map(|(bad, first)| (&*bad.0, bad.1.as_second() - first.1.as_second()))
        .collect();
    assert_eq!(later, [("Ready", 3), ("Reconciling", 0), ("Stalled", 3)]);
    Ok(())
}

#[operator_test]
async fn what_others_say_in_a_list_that_is_written_as_a_whole_is_kept() -> Result<()> {
    let scene = Scene::new("condition-others").await?;
    let operator = scene.start(scene.controller(&Script::idle()).status(status)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let mut one = scene.resources.get("one").await?;
    let mut theirs = one.status.clone().unwrap_or_default().conditions[0].clone();
    "Theirs".clone_into(&mut theirs.type_);
    theirs.last_transition_time = Time(Timestamp::UNIX_EPOCH);
    one.status.get_or_insert_default().conditions.insert(0, theirs);
    let name = one.metadata.name.clone().unwrap_or_default();
    scene.resources.replace_status(&name, &kube::api::PostParams::default(), &one).await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    operator.settled().await?;
    let types: Vec<_> = times(&scene.resources.get("one").await?).into_iter().map(|(of, _)| of).collect();
    assert_eq!(types, ["Theirs", "Ready", "Reconciling", "Stalled"]);
    Ok(())
}
