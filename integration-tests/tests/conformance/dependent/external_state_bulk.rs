//! A bulk of records in another system, whose ids are kept in a config map each: found again after a restart, changed, and
//! deleted with their config maps.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{
    ExternalSystem, ManyRecords, Record, Scene, Script, eventually, state_map, test_resource,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::ListParams};
use operator_core::{
    BoxError, Context, Controller, ControllerBuilder, PerResourcePollingEventSource, Workflow,
    dependent::bulk::{BulkCustomDependent, BulkExplicitState},
    testing::operator_test,
};
use serde_json::json;

test_resource!("external-state-bulk.conformance.operator-core.io", namespaced);

impl BulkExplicitState<TestResource> for ManyRecords {
    type State = ConfigMap;

    fn state(
        &self,
        key: &String,
        record: &Record,
        primary: &TestResource,
        context: &Context<TestResource>,
    ) -> Result<ConfigMap, BoxError> {
        Ok(state_map(key.clone(), record, primary, context))
    }
}

/// The ids that config maps keep.
async fn kept(maps: &Api<ConfigMap>) -> Result<Vec<String>, kube::Error> {
    let maps = maps.list(&ListParams::default()).await?;
    Ok(maps.items.into_iter().filter_map(|map| map.data?.remove("id")).collect())
}

fn controller(
    scene: &Scene<TestResource>,
    system: &ExternalSystem,
) -> Result<ControllerBuilder<Script<TestResource>>> {
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
    let bulk = BulkCustomDependent::new(ManyRecords::new(system)).creates().updates().deletes().keeps_state();
    let workflow = Workflow::builder().dependent(bulk.remembered_by("records")).build()?;
    Ok(Controller::builder(Script::idle())
        .namespaces([&scene.namespace])
        .owns::<ConfigMap>()
        .watches(source)
        .workflow(&workflow))
}

async fn until(
    scene: &Scene<TestResource>,
    system: &ExternalSystem,
    number: usize,
    data: &str,
) -> Result<()> {
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
    let scene = Scene::<TestResource>::new("external-state-bulk").await?;
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
