//! Our operator in the managed style: a workflow of three dependents, which the framework runs.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Config, ResourceExt};
use operator_core::{
    BoxError, Cleaner, Context, Controller, DeleteControl, Desired, KubernetesDependent, Operator,
    Reconciler, UpdateControl, Workflow,
};

use crate::workload::{CHILDREN, CONCURRENCY, TestResource, child, status};

struct Child(usize);

impl Desired<TestResource> for Child {
    type Resource = ConfigMap;

    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<ConfigMap, BoxError> {
        let metadata = ObjectMeta { namespace: primary.namespace(), ..ObjectMeta::default() };
        Ok(child(primary, self.0, metadata))
    }
}

struct Load;

impl Reconciler for Load {
    type Primary = TestResource;
    type Error = BoxError;

    async fn reconcile(
        &self,
        primary: Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        Ok(UpdateControl::patch_status(status(&primary)))
    }
}

impl Cleaner for Load {
    async fn cleanup(
        &self,
        _: Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<DeleteControl, BoxError> {
        Ok(DeleteControl::default_delete())
    }
}

/// Runs until the process is told to stop.
pub(crate) async fn run(config: Config, namespace: &str) -> Result<()> {
    let children =
        (0..CHILDREN).map(|index| KubernetesDependent::new(Child(index)).name(format!("child-{index}")));
    let workflow = children.fold(Workflow::builder(), operator_core::workflow::WorkflowBuilder::dependent);
    let controller = Controller::builder(Load)
        .name("managed")
        .with_cleaner()
        .workflow(&workflow.build()?)
        .namespaces([namespace])
        .max_concurrent_reconciles(CONCURRENCY);
    let operator = Operator::builder().config(config).register(controller);
    let _ = operator.run().await.context("our operator, managed")?;
    Ok(())
}
