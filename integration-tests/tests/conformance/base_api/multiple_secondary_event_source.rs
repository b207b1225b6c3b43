//! Two sources of config maps and a timer: all of them trigger runs.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource, eventually};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt, api::PostParams};
use operator_core::{
    Controller, FunctionEventSource, InformerEventSource, UpdateControl,
    observe::{Cause, SourceIndex},
    testing::operator_test,
};
use serde_json::json;

/// Watches the config maps labelled so; they belong to the primary that they are named after.
fn source(which: &'static str) -> InformerEventSource<ConfigMap> {
    InformerEventSource::<ConfigMap>::new()
        .name(which)
        .label_selector(format!("which={which}"))
        .map_to_primary(|map| {
            let name = map.name_any();
            let primary = name.split('.').next().unwrap_or_default();
            vec![operator_core::ObjectKey::namespaced(&map.namespace().unwrap_or_default(), primary)]
        })
}

#[operator_test]
async fn each_source_triggers_runs() -> Result<()> {
    let scene = Scene::new("multiple-secondary-event-source").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            // Each source knows its own, and the context knows both.
            let of = |name| {
                let source = context.event_source::<ConfigMap>(name).expect("it is declared");
                source.secondaries_of(context.primary_key()).len()
            };
            assert_eq!(of("first") + of("second"), context.secondaries::<ConfigMap>()?.len());
            Ok(UpdateControl::no_update())
        })
    });
    let timer = FunctionEventSource::new("timer", |events| async move {
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        loop {
            ticks.tick().await;
            events.wake_all();
        }
    });
    let controller =
        Controller::builder(script.clone()).watches(source("first")).watches(source("second")).watches(timer);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    // A change of a primary that isn't known yet causes no run: that of the primary sees it.
    let known = async || Ok((!script.runs.of("one").is_empty()).then_some(()));
    eventually("the first run", known).await?;
    for which in ["first", "second"] {
        let map = json!({ "metadata": { "name": format!("one.{which}"), "labels": { "which": which } } });
        scene.api::<ConfigMap>().create(&PostParams::default(), &integration_tests::from_json(&map)?).await?;
    }
    for index in 0..3 {
        eventually(&format!("a run caused by source {index}"), async || {
            let cause = Cause::Source(SourceIndex(index));
            Ok(script.runs.of("one").iter().any(|run| run.causes.contains(cause)).then_some(()))
        })
        .await?;
    }
    operator.stop().await;
    Ok(())
}
