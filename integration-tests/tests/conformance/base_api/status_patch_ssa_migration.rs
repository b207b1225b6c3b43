//! From a status that is patched to one that is applied. Patched fields belong to a separate entry, and a server keeps
//! a field that another entry has (Kubernetes issue 99003): it stays, unless that entry is removed.

use integration_tests::prelude::*;

use super::status_patch_not_locking_for_non_ssa::{counted, counting};

async fn start(scene: &Scene, ssa: bool) -> Result<TestOperator> {
    let gate = Gate::new();
    gate.let_through(100);
    let controller = scene.controller(&counting(&gate)).name("sample");
    scene.start(controller.use_ssa_to_patch_primary(ssa)).await
}

/// A status that was patched by an operator, and then applied by another.
async fn migrated(scene: &Scene) -> Result<TestOperator> {
    scene.failures.ignore_generations();
    let operator = start(scene, false).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(counted(scene).await?, (1, true));
    operator.stop().await;
    let operator = start(scene, true).await?;
    operator.settled().await?;
    assert_eq!(counted(scene).await?, (2, true));
    Ok(operator)
}

fn entries(one: &TestResource) -> Vec<(&str, &str)> {
    let entries = one.managed_fields().iter().filter(|entry| entry.subresource.as_deref() == Some("status"));
    let mut entries: Vec<_> = entries
        .map(|entry| {
            (entry.manager.as_deref().unwrap_or_default(), entry.operation.as_deref().unwrap_or_default())
        })
        .collect();
    entries.sort_unstable();
    entries
}

#[operator_test]
async fn what_was_patched_stays() -> Result<()> {
    let scene = Scene::new("status-patch-ssa-migration").await?;
    let operator = migrated(&scene).await?;
    let one = scene.resources.get("one").await?;
    assert_eq!(entries(&one), [("sample", "Apply"), ("sample", "Update")]);
    scene.set("one", "quiet").await?;
    operator.settled().await?;
    assert_eq!(counted(&scene).await?, (3, true), "the server leaves it, as another entry has it");
    Ok(())
}

#[operator_test]
async fn it_goes_when_its_entry_is_taken_away() -> Result<()> {
    let scene = Scene::new("status-patch-ssa-migration").await?;
    let operator = migrated(&scene).await?;
    let mut one = scene.resources.get("one").await?;
    one.managed_fields_mut()
        .retain(|entry| entry.operation.as_deref() != Some("Update") || entry.subresource.is_none());
    one.spec.value = "quiet".to_owned();
    scene.resources.replace("one", &PostParams::default(), &one).await?;
    operator.settled().await?;
    assert_eq!(counted(&scene).await?, (3, false));
    assert_eq!(entries(&scene.resources.get("one").await?), [("sample", "Apply")]);
    Ok(())
}
