//! Our operator in the managed style: a workflow of four dependents, which the framework runs.

use anyhow::{Context as _, Result};
use kube::Config;
use operator_core::{
    BoxError, Cleaner, Context, Controller, Operator, Removal, Run, UpdateControl, Wire as _,
};

use crate::{
    deployment::deployment,
    workload::{CONCURRENCY, TestResource, config_map, secret, service, status},
};

struct Load;

impl Cleaner for Load {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        _: &TestResource,
        _: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _: &TestResource, _: &mut Context<TestResource>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
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
        .status(|primary: &TestResource, run: &Run<TestResource>| {
            run.error().is_none().then(|| status(primary))
        })
        .workflow(workflow)
        .namespaces([namespace])
        .max_concurrent_reconciles(CONCURRENCY);
    let operator = Operator::builder().config(config).register(controller);
    let _ = operator.run().await.context("our operator, managed")?;
    Ok(())
}
