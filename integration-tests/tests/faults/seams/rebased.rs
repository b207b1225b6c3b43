//! A JSON patch is made from one state of an object: its indexes into lists must fit the state that it meets.

use integration_tests::prelude::*;

use super::{pass, scene, under};
fn listed(items: &[&str]) -> serde_json::Value {
    json!({ "status": { "messages": items } })
}

/// The run changes `b` to `B` in its status' list. `seen`: the others' change arrives in the cache before the write.
async fn rebased(seen: bool) -> Result<Vec<String>> {
    rebased_by(seen, listed(&["x", "a", "b"])).await
}

async fn rebased_by(seen: bool, change: serde_json::Value) -> Result<Vec<String>> {
    let scene = scene().await?;
    let gate = Gate::new();
    let waits = gate.clone();
    let script = Script::new(move |_, primary: Arc<TestResource>, _| {
        let gate = waits.clone();
        Box::pin(async move {
            let mut status: TestStatus = primary.status.clone().unwrap_or_default();
            gate.pass().await;
            for item in status.messages.iter_mut().filter(|item| *item == "b") {
                *item = "B".to_owned();
            }
            Ok(Said::status(status))
        })
    });
    scene.create("one", "first").await?;
    let params = PatchParams::default();
    scene.resources.patch_status("one", &params, &Patch::Merge(listed(&["a", "b"]))).await?;
    let (others, count, unseen) = (scene.clone(), seen, change.clone());
    let meanwhile =
        Rule::on(Verb::Patch).resource("testresources").subresource("status").first(1).meanwhile(move |_| {
            let (scene, change) = (others.clone(), unseen.clone());
            async move {
                if !count {
                    let patch = Patch::Merge(change);
                    let done = scene.resources.patch_status("one", &PatchParams::default(), &patch).await;
                    done.expect("others may");
                }
            }
        });
    let controller = script.controller().use_ssa_to_patch_primary(false).namespaces([&scene.namespace]);
    let _operator = under(&Faults::new([meanwhile.clone()]), &scene, controller).await?;
    gate.arrived().await?;
    if seen {
        scene.resources.patch_status("one", &params, &Patch::Merge(change)).await?;
        pass(2).await;
    }
    gate.let_through(1_000);
    pass(600).await;
    assert_eq!(meanwhile.fired(), 1);
    Ok(scene.resources.get("one").await?.status.unwrap_or_default().messages)
}

#[tokio::test(start_paused = true)]
async fn a_status_patch_without_ssa_does_not_hit_another_item_of_a_list_that_has_moved() -> Result<()> {
    assert_eq!(rebased(true).await?, ["x", "a", "B"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_status_patch_without_ssa_does_not_hit_another_item_where_the_cache_has_not_seen_the_move()
-> Result<()> {
    assert_eq!(rebased(false).await?, ["x", "a", "B"]);
    Ok(())
}

/// The control: others leave the list alone, and change another field.
#[tokio::test(start_paused = true)]
async fn control_seen_with_others_who_leave_the_list_alone() -> Result<()> {
    assert_eq!(rebased_by(true, json!({ "status": { "message": "theirs" } })).await?, ["a", "B"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn control_unseen_with_others_who_leave_the_list_alone() -> Result<()> {
    assert_eq!(rebased_by(false, json!({ "status": { "message": "theirs" } })).await?, ["a", "B"]);
    Ok(())
}

/// With server-side apply as by default: a JSON patch of the own primary that removes a foreign finalizer, which its
/// owner removes at the same time, while `joins` is added. Returns the finalizers in the end.
async fn finalizers_after(joins: Option<&'static str>) -> Result<Vec<String>> {
    const THEIRS: &str = "example.com/theirs";
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if primary.finalizers().iter().any(|name| name == THEIRS) {
                let operations = context.resource_operations();
                operations
                    .json_patch(&*primary, |one| one.finalizers_mut().retain(|name| name != THEIRS))
                    .await?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let others = scene.clone();
    let meanwhile =
        Rule::on(Verb::Patch).resource("testresources").main_resource().first(1).meanwhile(move |_| {
            let scene = others.clone();
            async move {
                let one = scene.resources.get("one").await.expect("there");
                let left = one.finalizers().iter().filter(|name| *name != THEIRS).cloned();
                let left: Vec<_> = left.chain(joins.map(str::to_owned)).collect();
                scene.patch("one", json!({ "metadata": { "finalizers": left } })).await.expect("others may");
            }
        });
    let faults = Faults::new([meanwhile.clone()]);
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let mut one = TestResource::named("one", "first");
    one.metadata.finalizers = Some(vec![THEIRS.to_owned()]);
    scene.resources.create(&PostParams::default(), &one).await?;
    let _operator = under(&faults, &scene, controller).await?;
    pass(60).await;
    assert_eq!(meanwhile.fired(), 1);
    Ok(scene.resources.get("one").await?.finalizers().to_vec())
}

const OURS: &str = "testresources.conformance.operator-core.io/finalizer";

#[tokio::test(start_paused = true)]
async fn a_json_patch_of_the_primary_does_not_take_our_own_finalizer_off() -> Result<()> {
    assert_eq!(finalizers_after(None).await?, [OURS]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_json_patch_of_the_primary_does_not_take_another_one_s_finalizer_off() -> Result<()> {
    assert_eq!(finalizers_after(Some("example.com/another")).await?, [OURS, "example.com/another"]);
    Ok(())
}
