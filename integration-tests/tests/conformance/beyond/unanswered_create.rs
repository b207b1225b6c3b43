//! A create whose answer was lost is not repeated blindly: the other system is asked first.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{ExternalSystem, Record, Scene, Script, eventually, test_resource};
use kube::ResourceExt;
use operator_core::{
    Context, Controller, GenericRetry, PollingEventSource, Workflow,
    dependent::{Creator, CustomDependent, DependentResource},
    reconciler::BoxError,
    testing::operator_test,
};

test_resource!("unanswered-create.conformance.operator-core.io", namespaced);

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

#[operator_test]
async fn a_create_without_an_answer_is_followed_by_a_look() -> Result<()> {
    let scene = Scene::<TestResource>::new("unanswered-create").await?;
    let system = ExternalSystem::default();
    system.lose_answers(1);
    let (records, namespace) = (system.clone(), scene.namespace.clone());
    // Far longer than the test: no poll comes to the rescue.
    let source = PollingEventSource::new("records", Duration::from_secs(3600), move || {
        let mut of = BTreeMap::<_, Vec<_>>::new();
        for record in records.all() {
            let key = operator_core::ObjectKey::namespaced(&namespace, &record.name);
            of.entry(key).or_default().push(record);
        }
        async move { Ok::<_, anyhow::Error>(of) }
    });
    let dependent = CustomDependent::new(RecordDependent(system.clone())).creates().remembered_by("records");
    let script = Script::idle();
    let controller = Controller::builder(script.clone())
        .namespaces([&scene.namespace])
        .retry(GenericRetry::default().with_initial_interval(Duration::from_millis(10))?)
        .watches(source)
        .workflow(&Workflow::builder().dependent(dependent).build()?);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    eventually("a run that goes well", async || Ok((!script.runs.of("one").is_empty()).then_some(())))
        .await?;
    operator.settled().await?;
    assert_eq!(system.created(), 1);
    operator.stop().await;
    Ok(())
}
