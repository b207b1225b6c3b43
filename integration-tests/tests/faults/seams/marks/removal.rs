//! A deletion is bound to the state that was judged.

use http::Method;
use integration_tests::prelude::*;

use super::saying;

/// Someone edits the object just before it is deleted: the requests that follow, and whether it still exists.
async fn edited_before(name: &str, edit: Value) -> Result<(Vec<String>, bool)> {
    edited_often(&Scene::new(name).await?, 1, edit).await
}

/// The same if someone edits it this many times, before each attempt.
async fn edited_often(scene: &Scene, times: usize, edit: Value) -> Result<(Vec<String>, bool)> {
    let workflow = workflow_of_one(node(counted_maps))?;
    let (others, attempts) = (scene.clone(), AtomicUsize::new(0));
    let hook = before_the_first(times, Method::DELETE, "/configmaps/one-1", move || {
        let (scene, mut edit) = (others.clone(), edit.clone());
        // Another edit each time: one that changes nothing makes no new version.
        let attempt = attempts.fetch_add(1, Ordering::SeqCst).to_string();
        edit["metadata"]["labels"] = json!({ "attempt": attempt });
        Box::pin(async move {
            let edit = Patch::Merge(edit);
            scene.api::<ConfigMap>().patch("one-1", &PatchParams::default(), &edit).await?;
            Ok(())
        })
    });
    let operator = scene.start_through(hook, scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "2 a").await?;
    scene.until_values([("one-0", "a"), ("one-1", "a")]).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "1 b" } })).await?;
    scene
        .until_other("the new value", "one-0", |map: &ConfigMap| {
            map.data.iter().flatten().any(|(_, value)| value == "b")
        })
        .await?;
    let written = operator.settled().await?.written();
    let removals = written.into_iter().filter(|write| write.contains("one-1")).collect();
    let left = scene.api::<ConfigMap>().get_opt("one-1").await?.is_some();
    Ok((removals, left))
}

#[operator_test]
async fn what_somebody_has_edited_meanwhile_is_judged_again_and_removed() -> Result<()> {
    let edit = json!({ "data": { "value": "somebody's" } });
    let (removals, left) = edited_before("marks-edited", edit).await?;
    assert_eq!(removals, ["DELETE configmaps/one-1 -> 409", "DELETE configmaps/one-1 -> 200"]);
    assert!(!left);
    Ok(())
}

/// The run gives up after the third state, so nobody can keep it busy; the next run continues.
#[operator_test]
async fn three_states_are_judged_in_one_run() -> Result<()> {
    let scene = Scene::new("marks-thrice").await?;
    scene.failures.expect("1 of 2 items failed: ");
    let edit = json!({ "data": { "value": "somebody's" } });
    let (mut removals, left) = edited_often(&scene, 4, edit).await?;
    // The event of the last edit may come before that of the end, and start one run that still knows the object.
    removals.pop_if(|line| line.ends_with("-> 404"));
    let conflicts = vec!["DELETE configmaps/one-1 -> 409"; 4];
    assert_eq!(removals, [conflicts, vec!["DELETE configmaps/one-1 -> 200"]].concat());
    assert!(!left);
    Ok(())
}

#[operator_test]
async fn what_isn_t_ours_any_more_when_it_is_judged_again_stays() -> Result<()> {
    let edit = json!({ "metadata": { "annotations": { "operator-core.io/mark": null } } });
    let (removals, left) = edited_before("marks-unmarked", edit).await?;
    assert_eq!(removals, ["DELETE configmaps/one-1 -> 409"]);
    assert!(left, "it has no mark");
    Ok(())
}
