//! The same by a dependent: the framework keeps the object with the id, and deletes it after the resource.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use integration_tests::{
    ExternalSystem, Record, Scene, Script, TestResource, eventually, one_kept_record, workflow_of_one,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt};
use operator_core::{ControllerBuilder, PerResourcePollingEventSource, testing::operator_test};
use serde_json::json;

fn controller(scene: &Scene, system: &ExternalSystem) -> Result<ControllerBuilder<Script>> {
    let (maps, records): (Api<ConfigMap>, _) = (scene.api(), system.clone());
    let source = PerResourcePollingEventSource::new(
        "records",
        Duration::from_millis(100),
        move |primary: Arc<TestResource>| {
            let (maps, records) = (maps.clone(), records.clone());
            async move {
                let map = maps.get_opt(&format!("{}-state", primary.name_any())).await?;
                let id = map.and_then(|map| map.data?.remove("id"));
                Ok::<Vec<Record>, kube::Error>(id.and_then(|id| records.get(&id)).into_iter().collect())
            }
        },
    );
    let workflow = workflow_of_one(one_kept_record(system))?;
    Ok(scene.managed(&Script::idle(), &workflow).owns::<ConfigMap>().watches(source))
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
    assert!(scene.api::<ConfigMap>().get_opt("one-state").await?.is_none());
    operator.stop().await;
    Ok(())
}
