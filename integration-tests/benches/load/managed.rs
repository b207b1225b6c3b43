//! Our operator in the managed style: a workflow of four dependents, which the framework runs.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use kube::Config;
use operator_core::{
    BoxError, Cleaner, Context, Controller, DeleteControl, Operator, Reconciler, UpdateControl, Wire as _,
};

use crate::{
    deployment::deployment,
    workload::{CONCURRENCY, TestResource, config_map, secret, service, status},
};

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
    let workflow = (
        config_map.ready_when_applied(),
        secret.ready_when_applied(),
        deployment.ready_when_applied(),
        service.ready_when_applied(),
    );
    let controller = Controller::builder(Load)
        .name("managed")
        .with_cleaner()
        .workflow(workflow)
        .namespaces([namespace])
        .max_concurrent_reconciles(CONCURRENCY);
    let operator = Operator::builder().config(config).register(controller);
    let _ = operator.run().await.context("our operator, managed")?;
    Ok(())
}
