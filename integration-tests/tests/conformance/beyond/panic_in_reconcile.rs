//! User code that panics.

use integration_tests::prelude::*;

#[operator_test]
async fn a_panic_is_retried_and_others_go_on() -> Result<()> {
    let scene = Scene::new("panic-in-reconcile").await?;
    scene.failures.expect("no good");
    let script = Script::new(|run, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            assert!(primary.spec.value != "bad" || run > 2, "no good");
            let message = Some(format!("run {run}"));
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    })
    .on_error(|_, _, error| TestStatus { message: Some(error.to_string()), ..TestStatus::default() });
    let controller = script
        .controller()
        .retry(GenericRetry::linear(Duration::from_millis(50), 5)?)
        .max_concurrent_reconciles(1)
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    scene.create("bad", "bad").await?;
    scene
        .until("the panic's words", "bad", |bad| {
            let message = bad.status.as_ref().and_then(|status| status.message.as_deref());
            message.is_some_and(|message| message == "the reconciler panicked: no good" || message == "run 3")
        })
        .await?;
    scene.create("good", "good").await?;
    let settled = operator.settled().await?;
    assert_eq!((settled.runs_of(&scene.key("bad")), settled.runs_of(&scene.key("good"))), (3, 1));
    for (name, said) in [("bad", "run 3"), ("good", "run 1")] {
        let status = scene.resources.get(name).await?.status.unwrap_or_default();
        assert_eq!(status.message.as_deref(), Some(said));
    }
    let attempts: Vec<_> = script.runs.of("bad").iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None, Some(1), Some(2)]);
    Ok(())
}

#[operator_test]
async fn a_panic_of_the_clean_up_keeps_the_finalizer_and_is_retried() -> Result<()> {
    let scene = Scene::new("panic-in-reconcile").await?;
    scene.failures.expect("not yet");
    let script = Script::<TestResource>::idle().cleanup(|times, _, _| {
        Box::pin(async move {
            assert!(times > 1, "not yet");
            Ok(Removal::Done)
        })
    });
    let controller = script
        .controller()
        .cleaner(true)
        .retry(GenericRetry::linear(Duration::from_millis(50), 5)?)
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(script.cleanups.count(), 2);
    Ok(())
}
