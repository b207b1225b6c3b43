//! An applied patch of the primary, together with its status, adds the controller's value and keeps the user's. Fields that only the user
//! sets aren't claimed, and the finalizer of a controller with a cleaner stays, although the reconciler doesn't name it.

use integration_tests::prelude::*;

const OURS: &str = "testresources.conformance.operator-core.io/finalizer";

#[operator_test]
async fn both_values_are_there() -> Result<()> {
    let scene = Scene::new("patch-resource-and-status-with-ssa").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            let mut desired = fresh(&*primary, &primary.spec.value);
            desired.metadata.annotations = Some([("by".to_owned(), "controller".to_owned())].into());
            desired.status = Some(TestStatus { message: Some("set".to_owned()), ..TestStatus::default() });
            Ok(Said::resource_and_status(desired))
        })
    });
    let controller = script.controller().name("sample").cleaner(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let mut one = TestResource::named("one", "the user's");
    one.labels_mut().insert("of".to_owned(), "the-user".to_owned());
    scene.resources.create(&PostParams::default(), &one).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    let one = scene.resources.get("one").await?;
    assert_eq!(one.spec.value, "the user's");
    assert_eq!(one.annotations().get("by").map(String::as_str), Some("controller"));
    assert_eq!(one.labels().get("of").map(String::as_str), Some("the-user"));
    assert_eq!(one.status.as_ref().and_then(|status| status.message.as_deref()), Some("set"));
    assert_eq!(one.finalizers(), [OURS], "the apply names it, too");

    assert_eq!(
        owners(&one, "sample"),
        [("Apply", true), ("Update", false)],
        "the controller's and the user's"
    );
    let ours = entries_of(&one, "sample");
    let [("Apply", "", object), ("Apply", "status", status)] = &ours[..] else { panic!("{ours:?}") };
    assert!(object.contains("f:by") && object.contains("f:finalizers"), "{object}");
    assert!(!object.contains("f:labels"), "the label is the user's: {object}");
    assert!(status.contains("f:message"), "{status}");

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert_eq!((script.runs.count(), script.cleanups.count()), (1, 1));
    Ok(())
}
