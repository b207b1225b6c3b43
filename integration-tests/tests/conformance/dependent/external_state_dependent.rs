//! The same by a dependent: the framework keeps the id in an object, which is deleted after the resource.

use integration_tests::prelude::*;

fn controller(scene: &Scene, system: &ExternalSystem) -> Result<ControllerBuilder<Script>> {
    Ok(scene.managed(&Script::idle(), &workflow_of_one(one_kept_record(system))?))
}

#[operator_test]
async fn a_dependent_keeps_its_id_in_a_config_map() -> Result<()> {
    let scene = Scene::new("external-state-dependent").await?;
    let system = ExternalSystem::default();
    let operator = scene.start(controller(&scene, &system)?).await?;
    scene.create("one", "first").await?;
    let kept = |map: &ConfigMap| map.data.as_ref().is_some_and(|data| data.contains_key("id"));
    let map = scene.until_other::<ConfigMap>("the id to be kept", "one-state", kept).await?;
    let record = system.all().pop().context("the record was created")?;
    assert_eq!(map.data.as_ref().and_then(|data| data.get("id")), Some(&record.id));
    operator.stop().await;

    let operator = scene.start(controller(&scene, &system)?).await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let changed = async || Ok(system.get(&record.id).filter(|record| record.data == "second"));
    eventually("the change", changed).await?;
    // Somebody else changes it: the poll sees that, and it is put right.
    system.update(&record.id, "foreign")?;
    eventually("the repair", changed).await?;
    assert_eq!(system.created(), 1, "the id was found again after the restart");

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty(), "the finalizer kept the primary until the record was gone");
    // It is collected after its primary.
    let maps = scene.api::<ConfigMap>();
    eventually("the end of the id", async || Ok(maps.get_opt("one-state").await?.is_none().then_some(())))
        .await?;
    operator.stop().await;
    Ok(())
}
