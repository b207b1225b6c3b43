//! Without server-side apply: object and status are patched in one answer, and an annotation that the answer leaves out
//! is removed.

use integration_tests::prelude::*;

async fn check(finalizer: bool) -> Result<()> {
    let scene = Scene::new("patch-resource-and-status-no-ssa").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            let mut desired = (*primary).clone();
            if let Some(annotations) = &mut desired.metadata.annotations {
                annotations.remove("to-be-removed");
            }
            desired.spec.value = "the controller's".to_owned();
            desired.status = Some(said(&primary.spec.value));
            Ok(Said::resource_and_status(desired))
        })
    });
    let controller = script.controller().use_ssa_to_patch_primary(false).namespaces([&scene.namespace]);
    let operator = scene.start(controller.cleaner(finalizer)).await?;
    let mut one = TestResource::new("one", TestResourceSpec { value: "the user's".to_owned() });
    one.metadata.annotations =
        Some(["to-be-removed", "to-be-kept"].map(|name| (name.to_owned(), "set".to_owned())).into());
    scene.resources.create(&PostParams::default(), &one).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "own writes cause no run");
    let one = scene.resources.get("one").await?;
    assert_eq!(one.spec.value, "the controller's");
    assert_eq!(one.annotations().keys().collect::<Vec<_>>(), ["to-be-kept"]);
    assert_eq!(one.status, Some(said("the user's")));
    assert_eq!(one.finalizers().len(), usize::from(finalizer));

    // The next change leads to another pair of writes, which builds upon the first.
    scene.patch("one", json!({ "spec": { "value": "new" } })).await?;
    operator.settled().await?;
    let one = scene.resources.get("one").await?;
    assert_eq!((one.spec.value.as_str(), one.status), ("the controller's", Some(said("new"))));
    Ok(())
}

#[operator_test]
async fn without_finalizer() -> Result<()> {
    check(false).await
}

#[operator_test]
async fn with_finalizer() -> Result<()> {
    check(true).await
}
