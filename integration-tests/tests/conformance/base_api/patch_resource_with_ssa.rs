//! An applied patch of the primary adds the controller's value and keeps the user's; the status is set by the run after it.

use integration_tests::prelude::*;

#[operator_test]
async fn both_values_are_there() -> Result<()> {
    let scene = Scene::new("patch-resource-with-ssa").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            if primary.annotations().contains_key("by") {
                return Ok(Said::status(said("set")));
            }
            let mut desired = fresh(&*primary, &primary.spec.value);
            desired.metadata.annotations = Some([("by".to_owned(), "controller".to_owned())].into());
            // Its own write wakes nobody.
            Ok(Said::patch_resource(desired).reschedule())
        })
    });
    let controller = script.controller().name("sample").namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let mut one = TestResource::named("one", "the user's");
    one.labels_mut().insert("of".to_owned(), "the-user".to_owned());
    scene.resources.create(&PostParams::default(), &one).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 2);
    let written = ["PATCH testresources/one -> 200", "PATCH testresources/one/status -> 200"];
    assert_eq!(settled.written(), written);
    let one = scene.resources.get("one").await?;
    assert_eq!(one.spec.value, "the user's");
    assert_eq!(one.annotations().get("by").map(String::as_str), Some("controller"));
    assert_eq!(one.labels().get("of").map(String::as_str), Some("the-user"));
    assert_eq!(one.status, Some(said("set")));

    assert_eq!(
        owners(&one, "sample"),
        [("Apply", true), ("Update", false)],
        "the controller's and the user's"
    );
    let ours = entries_of(&one, "sample");
    let [("Apply", "", object), ("Apply", "status", _)] = &ours[..] else { panic!("{ours:?}") };
    assert!(object.contains("f:by") && !object.contains("f:labels"), "the label is the user's: {object}");
    Ok(())
}
