//! A bulk of records in another system: three, one, five and none on deletion; a change of the data reaches all.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{ExternalSystem, Record, Scene, Script, eventually, test_resource};
use kube::ResourceExt;
use operator_core::{
    BoxError, Context, Controller, ObjectKey, PollingEventSource, Workflow,
    dependent::bulk::{BulkCreator, BulkCustomDependent, BulkDeleter, BulkDependentResource, BulkUpdater},
    testing::operator_test,
};
use serde_json::json;

test_resource!("bulk-external.conformance.operator-core.io", namespaced);

/// As many records as the first part of the value says, with the second part as their data.
struct Records(ExternalSystem);

impl BulkDependentResource<TestResource> for Records {
    type Resource = Record;
    type Key = String;

    async fn secondaries(
        &self,
        _: &Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> Result<BTreeMap<String, Arc<Record>>, BoxError> {
        Ok(context.external::<Record>().into_iter().map(|record| (record.name.clone(), record)).collect())
    }
}

impl BulkCreator<TestResource> for Records {
    fn desired(
        &self,
        primary: &TestResource,
        _: &Context<TestResource>,
    ) -> Result<BTreeMap<String, Record>, BoxError> {
        let (number, data) = primary.spec.value.split_once(' ').ok_or("a number and the data are needed")?;
        let record = |index| {
            let name = format!("{}-{index}", primary.name_any());
            (name.clone(), Record { id: String::new(), name, data: data.to_owned() })
        };
        Ok((0..number.parse::<usize>()?).map(record).collect())
    }

    async fn create(
        &self,
        _: &String,
        desired: &Record,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.0.create(&desired.name, &desired.data)?))
    }
}

impl BulkUpdater<TestResource> for Records {
    fn matches(
        &self,
        actual: &Record,
        desired: &Record,
        _: &TestResource,
        _: &Context<TestResource>,
    ) -> bool {
        actual.data == desired.data
    }

    async fn update(
        &self,
        _: &String,
        actual: &Arc<Record>,
        desired: &Record,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.0.update(&actual.id, &desired.data)?))
    }
}

impl BulkDeleter<TestResource> for Records {
    async fn delete(
        &self,
        _: &String,
        actual: &Arc<Record>,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<(), BoxError> {
        self.0.delete(&actual.id);
        Ok(())
    }
}

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
        let mut of = BTreeMap::<_, Vec<_>>::new();
        for record in records.all() {
            let of_whom = record.name.rsplit_once('-').map_or("", |(primary, _)| primary);
            of.entry(ObjectKey::namespaced(&namespace, of_whom)).or_default().push(record);
        }
        async move { Ok::<_, anyhow::Error>(of) }
    });
    let bulk = BulkCustomDependent::new(Records(system.clone())).creates().updates().deletes();
    let workflow = Workflow::builder().dependent(bulk.remembered_by("records")).build()?;
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
