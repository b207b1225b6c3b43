//! A create whose answer was lost is not repeated blindly: the other system is asked first.

use integration_tests::prelude::*;
use operator_core::dependent::Records;

#[operator_test]
async fn a_create_without_an_answer_is_followed_by_a_look() -> Result<()> {
    let scene = Scene::new("unanswered-create").await?;
    scene.failures.expect("the answer was lost");
    scene.failures.expect("is not called for this record before");
    let system = ExternalSystem::default();
    system.lose_answers(1);
    // Far longer than the test: no poll comes to the rescue.
    let record = Records::new(OneRecord::new(&system, "")).polled_together(Duration::from_secs(3600));
    let record = record.id_in_status("recordId");
    let script = Script::<TestResource>::idle();
    let controller = script
        .controller()
        .namespaces([&scene.namespace])
        .retry(GenericRetry::default().with_initial_interval(Duration::from_millis(10))?)
        .workflow(&Workflow::builder().nodes((record,)).build()?);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    eventually("a run that goes well", async || Ok((!script.runs.of("one").is_empty()).then_some(())))
        .await?;
    operator.settled().await?;
    assert_eq!(system.created(), 1);
    operator.stop().await;
    Ok(())
}
