//! A dependent looks for another object than the one it desires (api.md, 1.4).

use anyhow::Result;
use integration_tests::{Script, TestResource, said};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::{
    BoxError, Context, Desired, KubernetesDependent, ObjectKey, Workflow,
    testing::faults::{Faults, Rule, StatusAnswer},
};

use super::{message, scene, under};

/// A map that is called like its primary.
struct Map;

impl Desired<TestResource> for Map {
    type Resource = ConfigMap;

    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<ConfigMap, BoxError> {
        let mut map = ConfigMap::default();
        map.metadata.name.clone_from(&primary.metadata.name);
        map.metadata.namespace.clone_from(&primary.metadata.namespace);
        Ok(map)
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_not_desired_fails_its_node_and_nothing_is_written() -> Result<()> {
    let scene = scene().await?;
    let script = Script::idle().on_error(|_: &TestResource, _, error| said(error.to_string()));
    let map = KubernetesDependent::new(Map).target(|_, context: &Context<TestResource>| {
        ObjectKey::namespaced(context.primary_key().namespace().unwrap_or_default(), "two")
    });
    let workflow = Workflow::builder().dependent(map);
    let controller = script.controller().workflow(workflow).namespaces([&scene.namespace]);
    // A write would be undone by the same run, and made again by the next, for ever.
    let written = Rule::writes().resource("configmaps").status(StatusAnswer::forbidden("not to be written"));
    let faults = Faults::new([written]);
    let operator = under(&faults, &scene, controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;

    let told = message(&scene, "one").await?.unwrap_or_default();
    assert!(told.contains("`.target(…)` says"), "{told}");
    assert_eq!(faults.unfired().len(), 1, "nothing is written");
    Ok(())
}
