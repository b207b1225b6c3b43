//! Quiet and BoundedLoad: runs, reads and writes; and that time goes on.

use std::time::Duration;

use kube::{Api, api::ListParams};

use super::*;
use crate::testing::faults::{Rule, StatusAnswer};

#[test]
fn a_write_in_each_quarter_of_an_hour_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            counted(&shelf, context).await?;
            Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(15 * 60)))
        })
    };
    let failure = failure("writes now and then", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::Quiet, "44 writes when all was done");
}

/// Nothing is written, so nothing but the number of runs shows it.
#[test]
fn a_hot_loop_of_runs_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            Ok(UpdateControl::no_update().reschedule_after(Duration::from_millis(900)))
        })
    };
    let failure = failure("runs", |sim| one_shelf(sim, declare(run)));
    found_by(&failure, Oracle::Quiet, "runs of default/a in 600 s when all was done");
}

#[test]
fn a_hot_loop_of_reads_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            let maps: Api<ConfigMap> = Api::namespaced(context.client().clone(), "default");
            for _ in 0..40 {
                maps.get("a").await?;
            }
            Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(20)))
        })
    };
    let failure = failure("reads", |sim| one_shelf(sim, declare(run)));
    found_by(&failure, Oracle::Quiet, "reads in 600 s when all was done");
}

/// Rare enough for one who means it, and not what the calm run does.
#[test]
fn an_operator_that_has_become_restless_is_found() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            let control = UpdateControl::no_update();
            Ok(if life.number > 1 { control.reschedule_after(Duration::from_secs(5)) } else { control })
        })
    };
    let failure = failure("restless", |sim| one_shelf(sim, declare(run)));
    found_by(&failure, Oracle::Quiet, "runs when all was done, and");
    assert!(!without_bad_luck(&failure), "{failure}");
}

/// What it would write is refused, so that no write reaches the server.
#[test]
fn runs_that_fail_and_are_repeated_at_once_are_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            let made = made(&shelf, context).await;
            let control = UpdateControl::no_update();
            Ok(if made.is_err() { control.reschedule() } else { control })
        })
    };
    let failure = failure_by_rules("no backoff", |sim| async move {
        sim.operator(declare(run));
        let down = Rule::writes().resource("configmaps").first(500);
        sim.faults(FaultPlan::none().rule(down.status(StatusAnswer::unavailable())));
        sim.user(async |user| drop(user.apply(shelf("a", "one")).await));
        sim.settle().await;
    });
    found_by(&failure, Oracle::BoundedLoad, "runs, and");
}

#[test]
fn reads_without_end_during_bad_luck_are_found() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            let maps: Api<ConfigMap> = Api::namespaced(context.client().clone(), "default");
            for _ in 0..if life.number > 1 { 1000 } else { 1 } {
                maps.list(&ListParams::default()).await?;
            }
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("reads", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::BoundedLoad, "reads, and");
}

#[test]
fn a_loop_that_takes_no_time_ends_the_schedule() {
    let run: Run = |_, _, _| {
        Box::pin(async move {
            loop {
                tokio::task::yield_now().await;
            }
        })
    };
    let failure = failure("spins", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::BoundedLoad, "no progress of time: more than 100000 polls at 0.0");
}
