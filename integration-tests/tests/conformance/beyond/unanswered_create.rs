//! A create whose answer was lost is not repeated blindly: the other system is asked first.

use std::time::Duration;

use anyhow::Result;
use integration_tests::{ExternalSystem, OneRecord, Scene, Script, TestResource, eventually};
use operator_core::{
    GenericRetry, PollingEventSource, Workflow, dependent::CustomDependent, testing::operator_test,
};

#[operator_test]
async fn a_create_without_an_answer_is_followed_by_a_look() -> Result<()> {
    let scene = Scene::new("unanswered-create").await?;
    scene.failures.expect("the answer was lost");
    let system = ExternalSystem::default();
    system.lose_answers(1);
    let (records, namespace) = (system.clone(), scene.namespace.clone());
    // Far longer than the test: no poll comes to the rescue.
    let source = PollingEventSource::new("records", Duration::from_secs(3600), move || {
        let of = records.by_primary(&namespace, |name| name);
        async move { Ok::<_, anyhow::Error>(of) }
    });
    let dependent = CustomDependent::<_, TestResource>::new(OneRecord::new(&system, ""))
        .creates()
        .remembered_by("records");
    let script = Script::<TestResource>::idle();
    let controller = script
        .controller()
        .namespaces([&scene.namespace])
        .retry(GenericRetry::default().with_initial_interval(Duration::from_millis(10))?)
        .watches(source)
        .workflow(&Workflow::builder().nodes((dependent,)).build()?);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    eventually("a run that goes well", async || Ok((!script.runs.of("one").is_empty()).then_some(())))
        .await?;
    operator.settled().await?;
    assert_eq!(system.created(), 1);
    operator.stop().await;
    Ok(())
}
