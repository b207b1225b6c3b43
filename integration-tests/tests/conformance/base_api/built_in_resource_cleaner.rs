//! Primaries of built-in kinds that have no generation, a Service and a Pod: the finalizer is added, and the clean-up is
//! called. Both controllers are part of one operator.

use std::{marker::PhantomData, sync::Arc};

use anyhow::Result;
use integration_tests::{RunRecord, Scene, eventually, test_resource};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{Pod, Service},
};
use kube::{
    Resource, ResourceExt,
    api::{DeleteParams, PostParams},
};
use operator_core::{
    Cleaner, Context, Controller, DeleteControl, Reconciler, UpdateControl,
    resource::KubeObject,
    testing::{TestOperator, operator_test},
};
use serde_json::json;

// The scene needs a custom resource; nothing is done with it.
test_resource!("built-in-resource-cleaner.conformance.operator-core.io", namespaced);

struct Cleaning<K> {
    runs: RunRecord,
    cleanups: RunRecord,
    kind: PhantomData<fn() -> K>,
}

impl<K> Cleaning<K> {
    fn new() -> Self {
        Self { runs: RunRecord::new(), cleanups: RunRecord::new(), kind: PhantomData }
    }
}

impl<K: KubeObject> Reconciler for Cleaning<K> {
    type Primary = K;
    type Error = anyhow::Error;

    async fn reconcile(&self, primary: Arc<K>, _: &Context<K>) -> Result<UpdateControl<K>> {
        self.runs.note(&*primary);
        Ok(UpdateControl::no_update())
    }
}

impl<K: KubeObject> Cleaner for Cleaning<K> {
    async fn cleanup(&self, primary: Arc<K>, _: &Context<K>) -> Result<DeleteControl> {
        self.cleanups.note(&*primary);
        Ok(DeleteControl::default_delete())
    }
}

async fn lives_and_goes<K>(
    scene: &Scene<TestResource>,
    operator: &TestOperator,
    records: [&RunRecord; 2],
    object: &K,
    finalizer: &str,
) -> Result<()>
where
    K: KubeObject + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let api = scene.api::<K>();
    // A Pod is refused until its namespace has a service account, which somebody else makes.
    eventually("the object's creation", async || match api.create(&PostParams::default(), object).await {
        Ok(_) => Ok(Some(())),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        Err(error) => Err(error.into()),
    })
    .await?;
    operator.settled().await?;
    assert_eq!(api.get("one").await?.finalizers(), [finalizer]);
    assert_eq!(records.map(RunRecord::count), [1, 0], "the finalizer's echo causes no run");

    api.delete("one", &DeleteParams::default().grace_period(0)).await?;
    eventually("the object's end", async || Ok(api.get_opt("one").await?.is_none().then_some(()))).await?;
    operator.settled().await?;
    assert_eq!(records.map(RunRecord::count), [1, 1]);
    Ok(())
}

#[operator_test]
async fn finalizer_and_clean_up_without_a_generation() -> Result<()> {
    let scene = Scene::<TestResource>::new("built-in-resource-cleaner").await?;
    let (services, pods) = (Cleaning::<Service>::new(), Cleaning::<Pod>::new());
    let of_services = (services.runs.clone(), services.cleanups.clone());
    let of_pods = (pods.runs.clone(), pods.cleanups.clone());
    let namespaces = [&scene.namespace];
    let builder = scene
        .operator()
        .register(Controller::builder(services).name("services").with_cleaner().namespaces(namespaces))?
        .register(Controller::builder(pods).name("pods").with_cleaner().namespaces(namespaces))?;
    let operator = TestOperator::start(builder).await?;

    let service: Service = serde_json::from_value(
        json!({ "metadata": { "name": "one" }, "spec": { "ports": [{ "port": 80 }] } }),
    )?;
    let finalizer = "services.core.operator-core.io/finalizer";
    lives_and_goes(&scene, &operator, [&of_services.0, &of_services.1], &service, finalizer).await?;

    let pod: Pod = serde_json::from_value(json!({
        "metadata": { "name": "one" },
        "spec": { "containers": [{ "name": "main", "image": "example.com/none" }] },
    }))?;
    let finalizer = "pods.core.operator-core.io/finalizer";
    lives_and_goes(&scene, &operator, [&of_pods.0, &of_pods.1], &pod, finalizer).await
}
