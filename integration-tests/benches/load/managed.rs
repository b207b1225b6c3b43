//! Our operator in the managed style: a workflow of four dependents, which the framework runs.

use anyhow::{Context as _, Result};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::Config;
use operator_core::{
    BoxError, Cleaner, Context, Controller, Desired, KubernetesDependent, Operator, Reconciler, Removal, Run,
    UpdateControl, Workflow, resource::KubeObject,
};

use crate::{
    deployment::deployment,
    workload::{CONCURRENCY, TestResource, config_map, secret, service, status},
};

/// The child that the function makes.
struct Child<K>(fn(&TestResource) -> K);

impl<K: KubeObject> Desired<TestResource> for Child<K> {
    type Resource = K;

    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<K, BoxError> {
        Ok(self.0(primary))
    }
}

struct Load;

impl Reconciler for Load {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        _: &TestResource,
        _: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

impl Cleaner for Load {
    async fn cleanup(&self, _: &TestResource, _: &mut Context<TestResource>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

/// Runs until the process is told to stop.
pub(crate) async fn run(config: Config, namespace: &str) -> Result<()> {
    let workflow = Workflow::builder()
        .dependent(KubernetesDependent::new(Child::<ConfigMap>(config_map)).name("config-map"))
        .dependent(KubernetesDependent::new(Child::<Secret>(secret)).name("secret"))
        .dependent(KubernetesDependent::new(Child::<Deployment>(deployment)).name("deployment"))
        .dependent(KubernetesDependent::new(Child::<Service>(service)).name("service"));
    let controller = Controller::builder(Load)
        .name("managed")
        .with_cleaner()
        .status(|primary: &TestResource, run: &Run<TestResource>| {
            run.error().is_none().then(|| status(primary))
        })
        .workflow(&workflow.build()?)
        .namespaces([namespace])
        .max_concurrent_reconciles(CONCURRENCY);
    let operator = Operator::builder().config(config).register(controller);
    let _ = operator.run().await.context("our operator, managed")?;
    Ok(())
}
