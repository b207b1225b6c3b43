//! A reconciler that is written by hand may panic before it returns a future.

use integration_tests::prelude::*;
use operator_core::{Context, Reconciler, Run};

use super::{message, pass, scene, under};

struct PanicsAtOnce;

impl Reconciler for PanicsAtOnce {
    type Primary = TestResource;

    #[allow(clippy::manual_async_fn, reason = "the call itself is what panics")]
    fn reconcile(
        &self,
        primary: &TestResource,
        _: &mut Context<TestResource>,
    ) -> impl Future<Output = Result<UpdateControl<TestResource>, BoxError>> + Send {
        assert!(primary.spec.value != "bad", "a bad value");
        async { Ok(UpdateControl::no_update()) }
    }
}

fn status(_: &TestResource, run: &Run<TestResource>) -> Option<TestStatus> {
    Some(said(run.error()?.to_string()))
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_future_is_a_failed_run_with_a_status() -> Result<()> {
    let scene = scene().await?;
    let controller = Controller::builder(PanicsAtOnce).status(status).namespaces([&scene.namespace]);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "bad").await?;
    pass(1).await;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("the reconciler panicked: a bad value"));
    Ok(())
}
