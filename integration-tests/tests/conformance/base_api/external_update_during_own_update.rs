//! Others put a label on the primary at the very moment of our own status write: it leads to a run, which sees it.

use http::Method;
use integration_tests::prelude::*;

#[operator_test]
async fn a_label_set_during_our_status_write_is_seen() -> Result<()> {
    let scene = Scene::new("external-update-during-own-update").await?;
    let labelled = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let labelled = Arc::clone(&labelled);
        move |_, primary: Arc<TestResource>, _| {
            labelled.lock().push(primary.labels().contains_key("by"));
            Box::pin(async move { Ok(Said::status(said("written"))) })
        }
    });
    let others = scene.clone();
    let hook = once_before(Method::PATCH, "/testresources/one/status", move || {
        let others = others.clone();
        Box::pin(async move {
            others.patch("one", json!({ "metadata": { "labels": { "by": "others" } } })).await?;
            Ok(())
        })
    });
    let controller = script.controller().generation_aware(false).namespaces([&scene.namespace]);
    let operator = scene.start_through(hook, controller).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert!(settled.runs_of(&scene.key("one")) >= 2, "the foreign label is not lost in our filter");
    assert_eq!(labelled.lock().last(), Some(&true));
    let one = scene.resources.get("one").await?;
    assert_eq!(one.status, Some(said("written")));
    assert_eq!(one.labels().get("by").map(String::as_str), Some("others"));
    Ok(())
}
