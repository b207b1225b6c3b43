//! Primaries that can't be decoded any more: somebody has written, in a newer version of the definition, what this operator's
//! types don't know.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{LogCapture, Scene, Script, TestResource, config_map, said};
use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams},
};
use operator_core::{
    Controller, DeleteControl, UpdateControl,
    testing::{TestCluster, faults::Faults},
};
use parking_lot::Mutex;
use serde_json::json;
use tracing::Level;

use super::{message, pass, under};

/// The definition of a version ago, when a value could be anything.
fn anything_goes() -> Result<CustomResourceDefinition> {
    let mut definition = serde_json::to_value(TestResource::crd())?;
    let spec = definition.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    *spec.expect("the definition has a schema") =
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    Ok(serde_json::from_value(definition)?)
}

/// Makes the value of a primary's spec something that this operator's types don't know.
async fn spoil(scene: &Scene, name: &str) -> Result<()> {
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    let wrong = Patch::Merge(json!({ "spec": { "value": { "password": "hunter2" } } }));
    untyped.patch(name, &PatchParams::default(), &wrong).await?;
    Ok(())
}

async fn mark(scene: &Scene, name: &str) -> Result<()> {
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    untyped.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

async fn exists(scene: &Scene, name: &str) -> Result<bool> {
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    Ok(untyped.get_opt(name).await?.is_some())
}

/// Values, in the order in which they came.
type Values = Arc<Mutex<Vec<String>>>;

/// Keeps a config map for each primary, and notes with which value it is cleaned up.
fn keeping(cleaned: &Values) -> Script {
    let cleaned = Arc::clone(cleaned);
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            context.resource_operations().server_side_apply(&map).await?;
            Ok(UpdateControl::patch_status(said(primary.spec.value.clone())))
        })
    })
    .cleanup(move |_, primary: Arc<TestResource>, _| {
        cleaned.lock().push(primary.spec.value.clone());
        Box::pin(async { Ok(DeleteControl::default_delete()) })
    })
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_cannot_be_decoded_any_more_is_not_reconciled_and_is_cleaned_up() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::<TestResource>::on(TestCluster::in_process(), "seams").await?;
    scene.cluster.install_crds([anything_goes()?]).await?;
    let cleaned: Values = Arc::default();
    let script = keeping(&cleaned);
    let controller = Controller::builder(script.clone())
        .name("web")
        .owns::<ConfigMap>()
        .with_cleaner()
        .namespaces([&scene.namespace]);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let runs = script.runs.count();

    spoil(&scene, "one").await?;
    operator.settled().await?;
    // Its state is not enforced any more.
    let edit = Patch::Merge(json!({ "data": { "value": "by hand" } }));
    scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &edit).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), runs, "an old spec is enforced");
    scene.api::<ConfigMap>().delete("one", &DeleteParams::default()).await?;
    let settled = operator.settled().await?;
    assert_eq!(script.runs.count(), runs, "an old spec is enforced");
    assert_eq!(settled.written(), [""; 0]);
    assert!(scene.api::<ConfigMap>().get_opt("one").await?.is_none(), "it was made anew from an old spec");

    // Repaired, it is reconciled without any other event.
    scene.set("one", "second").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("second"));

    // Spoiled again and deleted, it is cleaned up with the last spec that could be decoded.
    spoil(&scene, "one").await?;
    mark(&scene, "one").await?;
    pass(60).await;
    assert_eq!(*cleaned.lock(), ["second"]);
    assert!(!exists(&scene, "one").await?, "it hangs in its deletion");
    let told = log.lines(Level::WARN);
    assert!(told.iter().any(|line| line.field("message").contains("can't be decoded")), "{told:?}");
    for level in [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG] {
        let lines = log.lines(level);
        assert!(!format!("{lines:?}").contains("hunter2"), "a value is in the log");
    }
    operator.stop().await;
    Ok(())
}
