//! Two dependents of one external type, from one event source: each has its own of the primary's resources.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{ExternalSystem, Record, Scene, Script, eventually, test_resource};
use kube::ResourceExt;
use operator_core::{
    Context, Controller, ObjectKey, PollingEventSource, Workflow,
    dependent::{Creator, CustomDependent, Deleter, DependentResource, Updater},
    reconciler::BoxError,
    testing::operator_test,
};
use serde_json::json;

test_resource!("multiple-managed-external.conformance.operator-core.io", namespaced);

/// The record of the primary whose name ends like this.
struct RecordDependent(ExternalSystem, &'static str);

impl DependentResource<TestResource> for RecordDependent {
    type Resource = Record;

    async fn secondary(
        &self,
        _: &Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> Result<Option<Arc<Record>>, BoxError> {
        Ok(context.external::<Record>().into_iter().find(|record| record.name.ends_with(self.1)))
    }

    fn id(&self, resource: &Record) -> String {
        resource.id.clone()
    }
}

impl Creator<TestResource> for RecordDependent {
    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<Record, BoxError> {
        let name = format!("{}{}", primary.name_any(), self.1);
        Ok(Record { id: String::new(), name, data: format!("{}{}", primary.spec.value, self.1) })
    }

    async fn create(
        &self,
        desired: Record,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.0.create(&desired.name, &desired.data)?))
    }
}

impl Updater<TestResource> for RecordDependent {
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
        actual: &Arc<Record>,
        desired: Record,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Arc<Record>, BoxError> {
        Ok(Arc::new(self.0.update(&actual.id, &desired.data)?))
    }
}

impl Deleter<TestResource> for RecordDependent {
    async fn delete(
        &self,
        actual: &Arc<Record>,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<(), BoxError> {
        self.0.delete(&actual.id);
        Ok(())
    }
}

#[operator_test]
async fn two_dependents_share_a_source_and_keep_apart() -> Result<()> {
    let scene = Scene::<TestResource>::new("multiple-managed-external").await?;
    let system = ExternalSystem::default();
    let (records, namespace) = (system.clone(), scene.namespace.clone());
    let source = PollingEventSource::new("records", Duration::from_millis(100), move || {
        let mut of = BTreeMap::<_, Vec<_>>::new();
        for record in records.all() {
            let name = record.name.trim_end_matches("-a").trim_end_matches("-b");
            of.entry(ObjectKey::namespaced(&namespace, name)).or_default().push(record);
        }
        async move { Ok::<_, anyhow::Error>(of) }
    });
    let dependent = |suffix| {
        let dependent = RecordDependent(system.clone(), suffix);
        let name = format!("record{suffix}");
        CustomDependent::new(dependent).name(name).creates().updates().deletes().remembered_by("records")
    };
    let workflow = Workflow::builder().dependent(dependent("-a")).dependent(dependent("-b")).build()?;
    let controller = Controller::builder(Script::idle())
        .namespaces([&scene.namespace])
        .watches(source)
        .workflow(&workflow);
    let operator = scene.start(controller).await?;

    let both = async |value: &str| {
        let data = |suffix: &str| system.named(&format!("one{suffix}")).pop().map(|record| record.data);
        eventually(value, async || {
            let both = data("-a") == Some(format!("{value}-a")) && data("-b") == Some(format!("{value}-b"));
            Ok(both.then_some(()))
        })
        .await
    };
    scene.create("one", "first").await?;
    both("first").await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    both("second").await?;
    assert_eq!(system.created(), 2);
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty());
    operator.stop().await;
    Ok(())
}
