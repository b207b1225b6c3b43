//! Stopping an operator that was never started isn't an error.

use integration_tests::prelude::*;
use operator_core::operator::Stopped;

#[operator_test]
async fn an_operator_that_was_never_started_can_be_stopped() -> Result<()> {
    let operator = Operator::builder().register(Script::<TestResource>::idle().controller()).build()?;
    assert_eq!(operator.stop().await, Stopped::NotRunning);
    assert_eq!(operator.stop().await, Stopped::NotRunning);
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}

#[operator_test]
async fn an_operator_that_was_stopped_before_its_start_can_be_started() -> Result<()> {
    let scene = Scene::new("stop-without-start").await?;
    let script = Script::<TestResource>::idle();
    let controller = scene.controller(&script);
    let operator = scene.operator().register(controller).build()?;
    assert_eq!(operator.stop().await, Stopped::NotRunning);
    operator.start().await?;
    scene.create("one", "value").await?;
    operator.settled(operator_core::operator::Settling::default()).await?;
    assert_eq!(script.runs.count(), 1);
    assert_eq!(operator.stop().await, Stopped::Drained);
    assert_eq!(operator.stop().await, Stopped::NotRunning);
    Ok(())
}
