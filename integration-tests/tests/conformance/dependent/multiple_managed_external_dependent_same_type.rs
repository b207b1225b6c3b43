//! Two dependents of one external type, from one event source: each has its own of the primary's resources.

use std::time::Duration;

use anyhow::Result;
use integration_tests::{ExternalSystem, OneRecord, Scene, Script, eventually, test_resource};
use operator_core::{
    Controller, PollingEventSource, Workflow, dependent::CustomDependent, testing::operator_test,
};
use serde_json::json;

test_resource!("multiple-managed-external.conformance.operator-core.io", namespaced);

#[operator_test]
async fn two_dependents_share_a_source_and_keep_apart() -> Result<()> {
    let scene = Scene::<TestResource>::new("multiple-managed-external").await?;
    let system = ExternalSystem::default();
    let (records, namespace) = (system.clone(), scene.namespace.clone());
    let source = PollingEventSource::new("records", Duration::from_millis(100), move || {
        let of = records.by_primary(&namespace, |name| name.trim_end_matches("-a").trim_end_matches("-b"));
        async move { Ok::<_, anyhow::Error>(of) }
    });
    let dependent = |suffix| {
        let dependent = OneRecord::new(&system, suffix);
        let name = format!("record{suffix}");
        CustomDependent::new(dependent).name(name).creates().updates().deletes().remembered_by("records")
    };
    let workflow =
        Workflow::<TestResource>::builder().dependent(dependent("-a")).dependent(dependent("-b")).build()?;
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
