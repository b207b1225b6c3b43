//! Violations on purpose: each oracle finds what it is for.
//!
//! The operators are right but for one thing each; most of them do it only in their second life, so that the calm run knows
//! nothing of it.

mod calm;
mod effects;
mod load;
mod readiness;
mod state;
mod told;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::DeleteParams};

use super::{
    Failure, FaultPlan, Oracle, Settings, Shelf, ShelfStatus, Sim, Tape, child, explore, put_status, shelf,
};
use crate::{
    controller::{Controller, ControllerBuilder},
    operator::{Operator, OperatorBuilder},
    reconciler::{BoxError, Context, Removal, UpdateControl, traits::Cleaner},
};

/// What a run may find out of itself.
#[derive(Clone, Copy)]
struct Life {
    /// How often the operator has been started.
    number: u32,
}

type Answer<'c> = BoxFuture<'c, Result<UpdateControl<Shelf>, BoxError>>;
type Run = for<'c> fn(Life, Arc<Shelf>, &'c mut Context<Shelf>) -> Answer<'c>;

/// Reconciles by a function.
struct Planted {
    life: Life,
    run: Run,
}

impl Cleaner for Planted {
    type Primary = Shelf;

    async fn reconcile(
        &self,
        shelf: &Shelf,
        context: &mut Context<Shelf>,
    ) -> Result<UpdateControl<Shelf>, BoxError> {
        (self.run)(self.life, Arc::new(shelf.clone()), context).await
    }

    async fn cleanup(&self, _: &Shelf, context: &mut Context<Shelf>) -> Result<Removal, BoxError> {
        let maps: Api<ConfigMap> = Api::namespaced(context.client().clone(), "default");
        match maps.delete("a", &DeleteParams::default()).await {
            Err(error) if !matches!(&error, kube::Error::Api(status) if status.code == 404) => {
                Err(error.into())
            }
            _ => Ok(Removal::Done),
        }
    }
}

/// Makes the child and nothing else.
async fn made(shelf: &Shelf, context: &Context<Shelf>) -> Result<(), BoxError> {
    let owner = context.owner_reference(shelf).ok_or("a primary has a uid")?;
    context.resource_operations().server_side_apply(&child(shelf, &owner)).await?;
    Ok(())
}

/// Makes the child with a number that is one more than what stands there: each run writes.
async fn counted(shelf: &Shelf, context: &Context<Shelf>) -> Result<(), BoxError> {
    let before = context.secondary_named::<ConfigMap>("a")?;
    let count = before.and_then(|map| map.data.as_ref()?.get("text")?.parse::<u32>().ok()).unwrap_or(0);
    let mut next = shelf.clone();
    next.spec.text = (count + 1).to_string();
    made(&next, context).await
}

/// Declares an operator that runs this, with its source of config maps.
fn declare(run: Run) -> impl Fn() -> OperatorBuilder + Clone + 'static {
    declare_with(run, |controller| controller.owns::<ConfigMap>())
}

fn declare_with(
    run: Run,
    add: impl Fn(ControllerBuilder<Planted>) -> ControllerBuilder<Planted> + Clone + 'static,
) -> impl Fn() -> OperatorBuilder + Clone + 'static {
    let starts = Arc::new(AtomicU32::new(0));
    move || {
        let life = Life { number: starts.fetch_add(1, Ordering::Relaxed) + 1 };
        let controller = add(Controller::of::<Shelf>()
            .reconciler(Planted { life, run })
            .name("planted")
            .cleaner(false)
            .status(put_status));
        Operator::builder().register(controller)
    }
}

/// Some schedules of one shelf that is made, and an operator that crashes at each write.
async fn one_shelf(sim: Sim, declare: impl Fn() -> OperatorBuilder + 'static) {
    sim.operator(declare);
    sim.faults(FaultPlan::none().crash_at_every_write());
    sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

fn settings(schedules: u64) -> Settings {
    Settings { threads: 2, ..Settings::schedules(schedules) }
}

/// The failure of a simulation without storms.
fn failure<A: Future<Output = ()>>(name: &str, test: impl Fn(Sim) -> A + Sync) -> Failure {
    failure_of(name, settings(0), test)
}

/// The failure of the one schedule that is as the calm run, but for the rules of its plan.
fn failure_by_rules<A: Future<Output = ()>>(name: &str, test: impl Fn(Sim) -> A + Sync) -> Failure {
    failure_of(name, rules_alone(), test)
}

fn rules_alone() -> Settings {
    Settings { tape: Some(Tape::calm()), ..settings(0) }
}

fn failure_of<A: Future<Output = ()>>(
    name: &str,
    settings: Settings,
    test: impl Fn(Sim) -> A + Sync,
) -> Failure {
    match explore(name, settings, test) {
        Ok(report) => panic!("{name} is not found: {report}"),
        Err(failure) => *failure,
    }
}

fn passes<A: Future<Output = ()>>(name: &str, test: impl Fn(Sim) -> A + Sync) {
    explore(name, settings(0), test).unwrap_or_else(|failure| panic!("{failure}"));
}

/// That oracle has found it, with these words.
#[track_caller]
fn found_by(failure: &Failure, oracle: Oracle, words: &str) {
    let found = failure
        .violations
        .iter()
        .any(|violation| violation.oracle == oracle && violation.message.contains(words));
    assert!(found, "{oracle} doesn't say {words:?}: {failure}");
}

/// Nobody but that oracle has found it.
#[track_caller]
fn found_only_by(failure: &Failure, oracle: Oracle, words: &str) {
    found_by(failure, oracle, words);
    assert!(failure.violations.iter().all(|violation| violation.oracle == oracle), "{failure}");
}

fn without_bad_luck(failure: &Failure) -> bool {
    failure.to_string().contains("without any bad luck")
}
