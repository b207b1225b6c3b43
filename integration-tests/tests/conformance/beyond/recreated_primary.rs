//! A primary that is created anew under its old name inherits nothing from its predecessor: it starts with fresh
//! retries, and reaches a status of its own.

use integration_tests::prelude::*;

#[operator_test]
async fn a_successor_starts_afresh() -> Result<()> {
    let scene = Scene::new("recreated-primary").await?;
    scene.failures.expect("it is the first one");
    scene.failures.expect("it is the second one");
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            // The first object always fails, its successor only in its first run.
            if primary.spec.value == "first" || context.retry_info().is_none() {
                bail!("it is the {} one", primary.spec.value);
            }
            let message = primary.metadata.uid.clone();
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let retry = GenericRetry::linear(Duration::from_millis(50), 2)?;
    let operator = scene.start(script.controller().retry(retry).namespaces([&scene.namespace])).await?;

    let first = scene.create("one", "first").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    let second = scene.create("one", "second").await?;
    operator.settled().await?;

    let attempts = |uid: Option<&String>| -> Vec<Option<u32>> {
        let runs = script.runs.of("one").into_iter();
        runs.filter(|run| Some(&run.uid) == uid).map(|run| run.attempt).collect()
    };
    assert_eq!(attempts(first.metadata.uid.as_ref()), [None, Some(1), Some(2)], "its retries are exhausted");
    assert_eq!(attempts(second.metadata.uid.as_ref()), [None, Some(1)], "these are its own");
    let now = scene.resources.get("one").await?;
    assert_eq!(now.metadata.uid, second.metadata.uid);
    assert_eq!(now.status.and_then(|status| status.message), second.metadata.uid);
    Ok(())
}
