//! A bulk of records in another system, whose ids are kept in a config map of their primary: found again after a restart,
//! changed, and deleted with their ids.

use integration_tests::prelude::*;

/// The ids that the config map keeps.
async fn kept(maps: &Api<ConfigMap>) -> Result<Vec<String>, kube::Error> {
    let map = maps.get_opt("one-ids").await?;
    Ok(map.and_then(|map| map.data).unwrap_or_default().into_values().collect())
}

fn controller(scene: &Scene, system: &ExternalSystem) -> Result<ControllerBuilder<Script>> {
    Ok(scene.managed(&Script::idle(), &workflow_of_one(many_kept_records(system))?))
}

async fn until(scene: &Scene, system: &ExternalSystem, number: usize, data: &str) -> Result<()> {
    let maps = scene.api::<ConfigMap>();
    eventually(&format!("{number} records with {data}"), async || {
        let (records, mut ids) = (system.all(), kept(&maps).await?);
        ids.sort();
        let mut known: Vec<_> = records.iter().map(|record| record.id.clone()).collect();
        known.sort();
        let all = records.len() == number && records.iter().all(|record| record.data == data);
        Ok((all && ids == known).then_some(()))
    })
    .await
}

#[operator_test]
async fn a_bulk_keeps_its_ids_in_a_config_map() -> Result<()> {
    let scene = Scene::new("external-state-bulk").await?;
    let system = ExternalSystem::default();
    let operator = scene.start(controller(&scene, &system)?).await?;
    scene.create("one", "3 first").await?;
    until(&scene, &system, 3, "first").await?;
    operator.stop().await;

    let operator = scene.start(controller(&scene, &system)?).await?;
    scene.patch("one", json!({ "spec": { "value": "3 second" } })).await?;
    until(&scene, &system, 3, "second").await?;
    assert_eq!(system.created(), 3, "the ids were found again after the restart");
    scene.patch("one", json!({ "spec": { "value": "1 second" } })).await?;
    until(&scene, &system, 1, "second").await?;
    scene.patch("one", json!({ "spec": { "value": "2 second" } })).await?;
    until(&scene, &system, 2, "second").await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty());
    // It is collected after its primary.
    let maps = scene.api();
    eventually("the end of the ids", async || Ok(kept(&maps).await?.is_empty().then_some(()))).await?;
    operator.stop().await;
    Ok(())
}
