//! An applied patch of the primary, together with its status, adds the controller's value and keeps the user's.

use std::sync::Arc;

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource, TestStatus, fresh, owners};
use kube::ResourceExt;
use operator_core::{Controller, UpdateControl, testing::operator_test};

#[operator_test]
async fn both_values_are_there() -> Result<()> {
    let scene = Scene::new("patch-resource-and-status-with-ssa").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            let mut desired = fresh(&*primary, &primary.spec.value);
            desired.metadata.annotations = Some([("by".to_owned(), "controller".to_owned())].into());
            desired.status = Some(TestStatus { message: Some("set".to_owned()), ..TestStatus::default() });
            Ok(UpdateControl::patch_resource_and_status(desired))
        })
    });
    let controller = Controller::builder(script).name("sample").namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "the user's").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    let one = scene.resources.get("one").await?;
    assert_eq!(one.spec.value, "the user's");
    assert_eq!(one.annotations().get("by").map(String::as_str), Some("controller"));
    assert_eq!(one.status.as_ref().and_then(|status| status.message.as_deref()), Some("set"));
    let owners = owners(&one, "sample");
    assert_eq!(owners, [("Apply", true), ("Update", false)], "the controller's and the user's, nothing else");
    Ok(())
}
