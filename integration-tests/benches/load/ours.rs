//! Our operator, in the low-level style.

use anyhow::{Context as _, Result};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::Config;
use operator_core::{BoxError, Cleaner, Context, Controller, Operator, Removal, Run, UpdateControl};

use crate::workload::{CONCURRENCY, Children, TestResource, status};

struct Load;

impl Cleaner for Load {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        primary: &TestResource,
        context: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        if let Some(owner) = context.owner_reference(primary) {
            let (children, operations) = (Children::of(primary, &owner), context.resource_operations());
            tokio::try_join!(
                operations.server_side_apply(&children.config_map),
                operations.server_side_apply(&children.secret),
                operations.server_side_apply(&children.deployment),
                operations.server_side_apply(&children.service),
            )?;
        }
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _: &TestResource, _: &mut Context<TestResource>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

/// Runs until the process is told to stop.
pub(crate) async fn run(config: Config, namespace: &str) -> Result<()> {
    let controller = Controller::builder(Load)
        .name("ours")
        .status(|primary: &TestResource, run: &Run<TestResource>| {
            run.error().is_none().then(|| status(primary))
        })
        .owns::<ConfigMap>()
        .owns::<Secret>()
        .owns::<Deployment>()
        .owns::<Service>()
        .namespaces([namespace])
        .max_concurrent_reconciles(CONCURRENCY);
    let operator = Operator::builder().config(config).register(controller);
    let _ = operator.run().await.context("our operator")?;
    Ok(())
}
