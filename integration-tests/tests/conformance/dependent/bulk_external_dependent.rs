//! A bulk of records in another system: three, one, five and none on deletion; a change of the data reaches all.

use std::time::Duration;

use anyhow::Result;
use integration_tests::{ExternalSystem, ManyRecords, Scene, Script, eventually, test_resource};
use operator_core::{
    Controller, PollingEventSource, Workflow, dependent::bulk::BulkCustomDependent, testing::operator_test,
};
use serde_json::json;

test_resource!("bulk-external.conformance.operator-core.io", namespaced);

async fn until(system: &ExternalSystem, number: usize, data: &str) -> Result<()> {
    eventually(&format!("{number} records with {data}"), async || {
        let records = system.all();
        let all = records.len() == number && records.iter().all(|record| record.data == data);
        Ok(all.then_some(()))
    })
    .await
}

#[operator_test]
async fn a_bulk_of_external_records_follows_its_primary() -> Result<()> {
    let scene = Scene::<TestResource>::new("bulk-external").await?;
    let system = ExternalSystem::default();
    let (records, namespace) = (system.clone(), scene.namespace.clone());
    let source = PollingEventSource::new("records", Duration::from_millis(100), move || {
        let of =
            records.by_primary(&namespace, |name| name.rsplit_once('-').map_or("", |(primary, _)| primary));
        async move { Ok::<_, anyhow::Error>(of) }
    });
    let bulk = BulkCustomDependent::new(ManyRecords::new(&system)).creates().updates().deletes();
    let workflow = Workflow::<TestResource>::builder().dependent(bulk.remembered_by("records")).build()?;
    let controller = Controller::builder(Script::idle())
        .namespaces([&scene.namespace])
        .watches(source)
        .workflow(&workflow);
    let operator = scene.start(controller).await?;

    scene.create("one", "3 first").await?;
    until(&system, 3, "first").await?;
    for (value, number, data) in
        [("3 second", 3, "second"), ("1 second", 1, "second"), ("5 second", 5, "second")]
    {
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        until(&system, number, data).await?;
    }
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty(), "the finalizer kept the primary until its records were gone");
    assert_eq!(system.created(), 7, "none was created twice");
    operator.stop().await;
    Ok(())
}
