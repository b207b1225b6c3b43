//! A reconciler that is written by hand may panic before it answers a future.

use std::{error::Error as StdError, sync::Arc};

use anyhow::Result;
use integration_tests::{TestResource, said};
use operator_core::{
    Context, Controller, ErrorStatusUpdateControl, Reconciler, UpdateControl, testing::faults::Faults,
};

use super::{message, pass, scene, under};

struct PanicsAtOnce;

impl Reconciler for PanicsAtOnce {
    type Primary = TestResource;
    type Error = anyhow::Error;

    #[allow(clippy::manual_async_fn, reason = "the call itself is what panics")]
    fn reconcile(
        &self,
        primary: Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> impl Future<Output = Result<UpdateControl<TestResource>>> + Send {
        assert!(primary.spec.value != "bad", "a bad value");
        async { Ok(UpdateControl::no_update()) }
    }

    async fn update_error_status(
        &self,
        _: Arc<TestResource>,
        _: &Context<TestResource>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> ErrorStatusUpdateControl<TestResource> {
        ErrorStatusUpdateControl::patch_status(said(error.to_string()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_future_is_a_failed_run_with_an_error_status() -> Result<()> {
    let scene = scene().await?;
    let controller = Controller::builder(PanicsAtOnce).namespaces([&scene.namespace]);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "bad").await?;
    pass(1).await;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("the reconciler panicked: a bad value"));
    Ok(())
}
