//! The same by a dependent: the framework keeps the object with the id, and deletes it after the resource.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use integration_tests::{ExternalSystem, Record, Scene, Script, eventually, test_resource};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Api, ResourceExt};
use operator_core::{
    Context, Controller, ControllerBuilder, PerResourcePollingEventSource, Workflow,
    dependent::{Creator, CustomDependent, Deleter, DependentResource, ExplicitState, Updater},
    reconciler::BoxError,
    testing::operator_test,
};
use serde_json::json;

test_resource!("external-state-dependent.conformance.operator-core.io", namespaced);

struct RecordDependent(ExternalSystem);

impl DependentResource<TestResource> for RecordDependent {
    type Resource = Record;

    async fn secondary(
        &self,
        _: &Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> Result<Option<Arc<Record>>, BoxError> {
        Ok(context.external::<Record>().pop())
    }
}

impl Creator<TestResource> for RecordDependent {
    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<Record, BoxError> {
        let (name, data) = (primary.name_any(), primary.spec.value.clone());
        Ok(Record { id: String::new(), name, data })
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

impl ExplicitState<TestResource> for RecordDependent {
    type State = ConfigMap;

    fn state(
        &self,
        record: &Record,
        primary: &TestResource,
        context: &Context<TestResource>,
    ) -> Result<ConfigMap, BoxError> {
        Ok(ConfigMap {
            metadata: ObjectMeta {
                name: Some(format!("{}-state", primary.name_any())),
                namespace: primary.namespace(),
                owner_references: context.owner_reference(primary).map(|owner| vec![owner]),
                ..ObjectMeta::default()
            },
            data: Some([("id".to_owned(), record.id.clone())].into()),
            ..ConfigMap::default()
        })
    }
}

fn controller(
    scene: &Scene<TestResource>,
    system: &ExternalSystem,
) -> Result<ControllerBuilder<Script<TestResource>>> {
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
    let dependent = CustomDependent::new(RecordDependent(system.clone()))
        .creates()
        .updates()
        .deletes()
        .keeps_state()
        .remembered_by("records");
    let workflow = Workflow::builder().dependent(dependent).build()?;
    Ok(Controller::builder(Script::idle())
        .namespaces([&scene.namespace])
        .owns::<ConfigMap>()
        .watches(source)
        .workflow(&workflow))
}

#[operator_test]
async fn a_dependent_keeps_its_id_in_a_config_map() -> Result<()> {
    let scene = Scene::<TestResource>::new("external-state-dependent").await?;
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
