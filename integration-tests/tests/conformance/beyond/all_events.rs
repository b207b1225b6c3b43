//! Additional invariants: one run at a time, successors, missed ends, and objects that only left a selection.

use integration_tests::prelude::*;
use operator_core::cache::Bounds;

use crate::base_api::trigger_reconciler_on_all_event::{Seen, Told, nothing_is_kept, on_all_events, script};

#[operator_test]
async fn an_end_during_a_run_waits_for_it_and_a_successor_waits_for_the_end() -> Result<()> {
    let scene = Scene::new("all-events-successor").await?;
    let (seen, gate) = (Seen::default(), Gate::new());
    let script = Script::new({
        let (seen, gate) = (seen.clone(), gate.clone());
        move |_, primary: Arc<TestResource>, context| {
            let (seen, gate) = (seen.clone(), gate.clone());
            Box::pin(async move {
                seen.note(&primary, context);
                gate.pass().await;
                Ok(UpdateControl::no_update())
            })
        }
    });
    let operator = scene.start(on_all_events(&scene, &script)).await?;
    let former = scene.create("one", "former").await?.metadata.uid;
    gate.arrived().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let next = scene.create("one", "next").await?.metadata.uid;
    // The run of what came last says that the end and the successor have been noticed.
    scene.create("two", "last").await?;
    gate.arrived().await?;
    gate.let_through(4);
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Alive, Told::Gone, Told::Alive]);
    let uids: Vec<_> = script.runs.of("one").into_iter().map(|run| Some(run.uid)).collect();
    assert_eq!(uids, [former.clone(), former, next]);
    assert!(script.runs.overlapping().is_empty());

    gate.let_through(2);
    for name in ["one", "two"] {
        scene.delete(name).await?;
        scene.until_gone(name).await?;
    }
    operator.settled().await?;
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn an_end_that_was_missed_is_told_as_such() -> Result<()> {
    let scene = Scene::new("all-events-missed").await?;
    let (relist, unknown) = (Relist::of("testresources"), Arc::new(Mutex::new(Vec::new())));
    let script = Script::new({
        let unknown = Arc::clone(&unknown);
        move |_, primary: Arc<TestResource>, context| {
            let told = (context.primary_is_deleted(), context.final_state_unknown());
            unknown.lock().push((told, primary.spec.value.clone()));
            Box::pin(async { Ok(UpdateControl::no_update()) })
        }
    });
    let builder = scene.operator().transport(relist.hook()).register(on_all_events(&scene, &script));
    let operator = TestOperator::start(builder).await?;
    for name in ["seen", "missed"] {
        scene.create(name, name).await?;
    }
    operator.settled().await?;
    scene.delete("seen").await?;
    scene.until_gone("seen").await?;
    operator.settled().await?;
    relist.cut_and_hold().await?;
    scene.delete("missed").await?;
    scene.until_gone("missed").await?;
    relist.release();
    operator.settled().await?;
    let ends: Vec<_> = unknown.lock().iter().filter(|((gone, _), _)| *gone).cloned().collect();
    assert_eq!(ends, [((true, false), "seen".to_owned()), ((true, true), "missed".to_owned())]);
    nothing_is_kept(&operator).await;
    Ok(())
}

#[operator_test]
async fn what_only_leaves_the_selection_has_not_ended() -> Result<()> {
    let scene = Scene::new("all-events-selection").await?;
    let seen = Seen::default();
    let controller = on_all_events(&scene, &script(&seen, |_, _| false)).label_selector("team=red");
    let operator = scene.start(controller).await?;
    for name in ["one", "two"] {
        scene.create(name, "free").await?;
        scene.patch(name, json!({ "metadata": { "labels": { "team": "red" } } })).await?;
    }
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Alive]);
    scene.patch("one", json!({ "metadata": { "labels": { "team": "blue" } } })).await?;
    eventually("one to be forgotten", async || {
        Ok((operator.operator().footprint().await.primaries == 1).then_some(()))
    })
    .await?;
    scene.delete("two").await?;
    scene.until_gone("two").await?;
    operator.settled().await?;
    assert_eq!(seen.all(), [Told::Alive, Told::Alive, Told::Gone], "one is still there, and two is not");
    nothing_is_kept(&operator).await;
    Ok(())
}

/// Its last state was read in full, and nobody but the operator knows it when it is gone.
#[operator_test]
async fn a_missed_end_shows_the_last_state_whatever_the_bounds_are() -> Result<()> {
    let scene = Scene::new("all-events-bounded").await?;
    let (relist, ends) = (Relist::of("testresources"), Arc::new(Mutex::new(Vec::new())));
    let script = Script::new({
        let ends = Arc::clone(&ends);
        move |_, primary: Arc<TestResource>, context| {
            if context.primary_is_deleted() {
                ends.lock().push(primary.spec.value.clone());
            }
            Box::pin(async { Ok(UpdateControl::no_update()) })
        }
    });
    let bounds = Bounds::new(0).with_template(TestResource::named("template", "nobody's"));
    let controller = on_all_events(&scene, &script).bounded(bounds);
    let operator =
        TestOperator::start(scene.operator().transport(relist.hook()).register(controller)).await?;
    scene.create("one", "record-17").await?;
    operator.settled().await?;
    relist.cut_and_hold().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    relist.release();
    operator.settled().await?;
    assert_eq!(*ends.lock(), ["record-17"]);
    Ok(())
}
