//! A run that takes longer than its controller allows is dropped, reported in the error status, and retried.

use integration_tests::prelude::*;

#[operator_test]
async fn the_run_is_dropped_and_retried() -> Result<()> {
    let scene = Scene::new("reconcile-timeout").await?;
    scene.failures.expect("the run was dropped after 200ms");
    let script = Script::new(|run, _: Arc<TestResource>, _| {
        Box::pin(async move {
            if run == 1 {
                std::future::pending::<()>().await;
            }
            Ok(Said::status(said("done")))
        })
    })
    .on_error(|_, _, error| said(error.to_string()));
    let controller = script
        .controller()
        .reconcile_timeout(Duration::from_millis(200))
        // The retry is far enough away for the error status to be read.
        .retry(GenericRetry::linear(Duration::from_secs(2), 5)?)
        .namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    scene
        .until("the error status", "one", |one| {
            let message = one.status.as_ref().and_then(|status| status.message.as_deref());
            message.is_some_and(|message| message.contains("`reconcile_timeout`"))
        })
        .await?;
    scene.until("the retry", "one", |one| one.status == Some(said("done"))).await?;
    operator.settled().await?;
    assert_eq!(script.runs.under_way(), 0, "a dropped run has ended");
    let attempts: Vec<_> = script.runs.of("one").iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None, Some(1)]);
    Ok(())
}
