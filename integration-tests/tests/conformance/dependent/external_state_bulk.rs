//! A bulk of records in another system, whose ids are kept in a config map each: found again after a restart, changed, and
//! deleted with their config maps.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{
    ExternalSystem, Record, Scene, Script, TestResource, eventually, many_kept_records, workflow_of_one,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::ListParams};
use operator_core::{ControllerBuilder, PerResourcePollingEventSource, testing::operator_test};
use serde_json::json;

/// The ids that config maps keep.
async fn kept(maps: &Api<ConfigMap>) -> Result<Vec<String>, kube::Error> {
    let maps = maps.list(&ListParams::default()).await?;
    Ok(maps.items.into_iter().filter_map(|map| map.data?.remove("id")).collect())
}

fn controller(scene: &Scene, system: &ExternalSystem) -> Result<ControllerBuilder<Script>> {
    let (maps, records): (Api<ConfigMap>, _) = (scene.api(), system.clone());
    let source = PerResourcePollingEventSource::new(
        "records",
        Duration::from_millis(100),
        move |_: Arc<TestResource>| {
            let (maps, records) = (maps.clone(), records.clone());
            async move {
                let ids = kept(&maps).await?;
                Ok::<Vec<Record>, kube::Error>(ids.iter().filter_map(|id| records.get(id)).collect())
            }
        },
    );
    let workflow = workflow_of_one(many_kept_records(system))?;
    Ok(scene.managed(&Script::idle(), &workflow).owns::<ConfigMap>().watches(source))
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
async fn a_bulk_keeps_its_ids_in_config_maps() -> Result<()> {
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
    assert!(kept(&scene.api()).await?.is_empty());
    operator.stop().await;
    Ok(())
}
