//! From writing by replacement to server-side apply and back, with one field manager and with another.

use integration_tests::prelude::*;

/// Runs an operator that writes `value`, and says under which managers and operations the config map is written then.
async fn written_by(scene: &Scene, ssa: bool, manager: &str, value: &str) -> Result<Vec<String>> {
    let workflow = workflow_of_one(wanted_map("a").use_ssa(ssa))?;
    let controller = scene.managed(&Script::idle(), &workflow).field_manager(manager);
    let operator = scene.start(controller).await?;
    if scene.resources.get_opt("one").await?.is_some() {
        // What the one has written, the other takes over, whatever it thinks of it.
        operator.settled().await?;
        scene.set("one", value).await?;
    } else {
        scene.create("one", value).await?;
    }
    scene.until_values([("one-a", value)]).await?;
    operator.settled().await?;
    // Nothing is written again without a change.
    operator.stop().await;
    let again = scene.start(scene.managed(&Script::idle(), &workflow).field_manager(manager)).await?;
    assert_eq!(again.settled().await?.written(), [""; 0]);
    again.stop().await;
    let fields = scene.api::<ConfigMap>().get("one-a").await?.metadata.managed_fields.into_iter().flatten();
    let mut written: Vec<String> = fields
        .map(|entry| format!("{} {}", entry.manager.unwrap_or_default(), entry.operation.unwrap_or_default()))
        .collect();
    written.sort_unstable();
    Ok(written)
}

#[operator_test]
async fn both_ways_with_one_manager() -> Result<()> {
    let scene = Scene::new("dependent-ssa-migration").await?;
    assert_eq!(written_by(&scene, false, "ours", "first").await?, ["ours Update"]);
    let both = ["ours Apply", "ours Update"];
    assert_eq!(written_by(&scene, true, "ours", "second").await?, both);
    assert_eq!(written_by(&scene, false, "ours", "third").await?, both);
    scene.delete("one").await?;
    scene.until_values([]).await
}

#[operator_test]
async fn both_ways_with_another_manager_than_before() -> Result<()> {
    let scene = Scene::new("dependent-ssa-migration").await?;
    assert_eq!(written_by(&scene, false, "legacy", "first").await?, ["legacy Update"]);
    let both = ["legacy Update", "ours Apply"];
    assert_eq!(written_by(&scene, true, "ours", "second").await?, both);
    assert_eq!(written_by(&scene, false, "legacy", "third").await?, both);
    scene.delete("one").await?;
    scene.until_values([]).await
}
