//! A deletion that arrives while a filtered status write is in progress still leads to the clean-up.

use http::Method;
use integration_tests::prelude::*;

#[operator_test]
async fn the_clean_up_is_called() -> Result<()> {
    let scene = Scene::new("deletion-during-status-update").await?;
    let script =
        Script::new(|_, _: Arc<TestResource>, _| Box::pin(async move { Ok(Said::status(said("written"))) }));
    let others = scene.clone();
    let hook = once_before(Method::PATCH, "/testresources/one/status", move || {
        let others = others.clone();
        Box::pin(async move { others.delete("one").await })
    });
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let operator = scene.start_through(hook, controller).await?;
    scene.create("one", "first").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(script.cleanups.count(), 1);
    assert_eq!(script.runs.count(), 1, "nothing is reconciled that is being deleted");
    Ok(())
}
