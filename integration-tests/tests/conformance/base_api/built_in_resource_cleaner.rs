//! Primaries of built-in kinds that have no generation, a Service and a Pod: the finalizer is added, and the clean-up is
//! called. Both controllers are part of one operator.

use integration_tests::prelude::*;
use k8s_openapi::{NamespaceResourceScope, api::core::v1::Pod};
use operator_core::resource::KubeObject;

async fn lives_and_goes<K>(
    scene: &Scene,
    operator: &TestOperator,
    script: &Script<K>,
    object: &K,
    finalizer: &str,
) -> Result<()>
where
    K: KubeObject + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let (api, records) = (scene.api::<K>(), [&script.runs, &script.cleanups]);
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
    let scene = Scene::new("built-in-resource-cleaner").await?;
    let (services, pods) = (Script::<Service>::idle(), Script::<Pod>::idle());
    let namespaces = [&scene.namespace];
    let builder = scene
        .operator()
        .register(services.controller().name("services").cleaner(true).namespaces(namespaces))
        .register(pods.controller().name("pods").cleaner(true).namespaces(namespaces));
    let operator = TestOperator::start(builder).await?;

    let service: Service = integration_tests::from_json(
        &json!({ "metadata": { "name": "one" }, "spec": { "ports": [{ "port": 80 }] } }),
    )?;
    let finalizer = "services.core.operator-core.io/finalizer";
    lives_and_goes(&scene, &operator, &services, &service, finalizer).await?;

    let pod: Pod = integration_tests::from_json(&json!({
        "metadata": { "name": "one" },
        // Nobody starts it, on either server: what its status says would be a reason to run.
        "spec": { "schedulerName": "nobody", "containers": [{ "name": "main", "image": "example.com/none" }] },
    }))?;
    let finalizer = "pods.core.operator-core.io/finalizer";
    lives_and_goes(&scene, &operator, &pods, &pod, finalizer).await
}
