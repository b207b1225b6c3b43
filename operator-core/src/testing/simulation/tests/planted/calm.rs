//! The calm run.

use kube::{Api, ResourceExt, api::PostParams};

use super::*;
use crate::resource::ObjectKey;

#[test]
fn a_warning_in_a_calm_run_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            tracing::warn!("the shelf is old");
            made(&shelf, context).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("warns", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::CalmRun, "the shelf is old");
    assert!(without_bad_luck(&failure), "{failure}");
    passes("warns", |sim| async move {
        sim.expected_in_calm_run("the shelf is old");
        one_shelf(sim, declare(run)).await;
    });
}

/// The retry heals it before anybody looks.
#[test]
fn a_run_that_fails_in_a_calm_run_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            if context.retry_info().is_none() {
                return Err("not at the first attempt".into());
            }
            made(&shelf, context).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("fails", |sim| one_shelf(sim, declare(run)));
    found_only_by(&failure, Oracle::CalmRun, "a run of default/a fails: not at the first attempt");
}

#[test]
fn a_request_that_is_refused_in_a_calm_run_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            let maps: Api<ConfigMap> = Api::namespaced(context.client().clone(), "default");
            let mut again = ConfigMap::default();
            again.metadata.name = Some(shelf.name_any());
            // It is there, and nobody asks what came of it.
            drop(maps.create(&PostParams::default(), &again).await);
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("conflicts", |sim| async move {
        sim.without(Oracle::Quiet);
        one_shelf(sim, declare(run)).await;
    });
    found_only_by(&failure, Oracle::CalmRun, "create configmaps/default/a -> 409");
}

#[test]
fn a_status_that_is_about_another_generation_is_found() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            let status = ShelfStatus { observed_generation: Some(1), ..ShelfStatus::default() };
            context.put(status);
            Ok(UpdateControl::no_update())
        })
    };
    let failure = failure("behind", |sim| async move {
        sim.operator(declare(run));
        sim.user(async |user| {
            user.apply(shelf("a", "one")).await;
            user.apply(shelf("a", "two")).await;
        });
        sim.settle().await;
    });
    found_only_by(&failure, Oracle::CalmRun, "the status of shelfs/default/a is about another generation");
}

/// What is recorded beside the work is neither a warning nor a write that nobody needs, and crashes don't double it.
#[test]
fn events_are_no_trouble_in_any_run() {
    let run: Run = |_, shelf, context| {
        Box::pin(async move {
            made(&shelf, context).await?;
            context.events().normal("Made", format!("of {}", shelf.spec.text));
            context.events().keyed("run").normal("Ran", format!("because {}", shelf.name_any()));
            Ok(UpdateControl::no_update())
        })
    };
    let declare = declare_with(run, |controller| controller.owns::<ConfigMap>().records_events(true));
    passes("records events", |sim| one_shelf(sim, declare.clone()));
}

/// Whatever the invariant says, it is asked in the calm run and in every other schedule.
#[test]
fn an_invariant_holds_in_the_calm_run_and_under_bad_luck() {
    let run: Run = |life, shelf, context| {
        Box::pin(async move {
            let mut shelf = (*shelf).clone();
            if life.number > 1 {
                shelf.spec.text = "of the second life".to_owned();
            }
            made(&shelf, context).await?;
            Ok(UpdateControl::no_update())
        })
    };
    let story = |text: &'static str| {
        move |sim: Sim| async move {
            sim.without(Oracle::SameState);
            sim.invariant(move |objects| {
                let maps = objects.all::<ConfigMap>();
                let wrong = maps.iter().find(|map| map.data.as_ref().is_none_or(|data| data["text"] != text));
                assert!(objects.get::<Shelf>(&ObjectKey::namespaced("default", "b")).is_none());
                wrong.map_or(Ok(()), |map| Err(format!("{} says {:?}", map.name_any(), map.data)))
            });
            one_shelf(sim, declare(run)).await;
        }
    };
    let calm = failure("invariant", story("two"));
    found_only_by(&calm, Oracle::Test, "a says Some({\"text\": \"one\"})");
    assert!(without_bad_luck(&calm), "{calm}");
    let crashed = failure("invariant", story("one"));
    found_only_by(&crashed, Oracle::Test, "of the second life");
    assert!(!without_bad_luck(&crashed), "{crashed}");
}
