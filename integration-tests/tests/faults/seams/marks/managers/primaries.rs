//! What was applied to primaries and their status.

use futures::FutureExt;
use integration_tests::prelude::*;

use super::{Requests, after, scene, upgraded, who};

/// A version of the controller that says these fields in the status.
fn saying(scene: &Scene, messages: bool) -> ControllerBuilder<Script> {
    let script = Script::new(move |_, _: Arc<TestResource>, _| {
        let status = TestStatus {
            message: Some("kept".to_owned()),
            messages: if messages { vec!["dropped".to_owned()] } else { Vec::new() },
            ..TestStatus::default()
        };
        async move { Ok(Said::status(status)) }.boxed()
    });
    script.controller().namespaces([&scene.namespace])
}

/// Who has applied something.
fn appliers(one: &TestResource) -> Vec<String> {
    let mut appliers: Vec<_> = one.managed_fields().iter().map(who).collect();
    appliers.retain(|who| who.contains("Apply"));
    appliers.sort_unstable();
    appliers
}

/// Status and finalizer are applied by themselves, and both are taken over by one write of the primary itself: a write of the
/// status can't change who manages it.
#[operator_test]
async fn a_status_that_a_retired_manager_has_applied_goes_when_it_is_said_no_more() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, saying(&scene, true).with_cleaner().field_manager("older")).await?;
    let one = scene.resources.get("one").await?;
    assert_eq!(appliers(&one), ["older Apply", "older Apply status"]);
    let newer = || {
        let saying = saying(&scene, false).with_cleaner();
        Ok(saying.field_manager("newer").retired_field_managers(["older"]))
    };
    let expected = [
        "get testresources/one 200",
        "json patch testresources/one 200",
        "apply testresources/one/status 200",
    ];
    assert_eq!(upgraded(&scene, &requests, newer).await?, expected);
    let one = scene.resources.get("one").await?;
    assert_eq!(appliers(&one), ["newer Apply", "newer Apply status"]);
    assert_eq!(one.finalizers().len(), 1);
    let status = one.status.unwrap_or_default();
    assert_eq!((status.message.as_deref(), status.messages.len()), (Some("kept"), 0));
    Ok(())
}

/// What the server answers about the finalizer tells the newest state, with all that is needed to go on.
#[operator_test]
async fn a_finalizer_that_comes_first_hides_nothing() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, saying(&scene, true).field_manager("older")).await?;
    let newer = || {
        let saying = saying(&scene, false).with_cleaner();
        Ok(saying.field_manager("newer").retired_field_managers(["older"]))
    };
    let expected = [
        "apply testresources/one 200",
        "get testresources/one 200",
        "json patch testresources/one 200",
        "apply testresources/one/status 200",
    ];
    assert_eq!(upgraded(&scene, &requests, newer).await?, expected);
    assert_eq!(appliers(&scene.resources.get("one").await?), ["newer Apply", "newer Apply status"]);
    Ok(())
}

/// It is written itself then, where otherwise only its status is.
#[tokio::test(start_paused = true)]
async fn a_controller_with_retired_managers_needs_the_right_to_patch_its_primaries() -> Result<()> {
    let scene = scene().await?;
    let patches = |controller: ControllerBuilder<Script>| -> Result<Vec<Option<&str>>> {
        let access = controller.build()?.access();
        let patched = access.iter().filter(|access| access.verbs.contains(&"patch"));
        Ok(patched.map(|access| access.subresource).collect())
    };
    assert_eq!(patches(saying(&scene, false))?, [Some("status")]);
    assert_eq!(patches(saying(&scene, false).retired_field_managers(["script"]))?, [Some("status")]);
    assert_eq!(patches(saying(&scene, false).formerly(["older"]))?, [Some("status"), None]);
    let otherwise = saying(&scene, false).use_ssa_to_patch_primary(false);
    assert_eq!(patches(otherwise.formerly(["older"]))?, [Some("status")]);
    Ok(())
}

/// How the server answers to a JSON patch of the managed fields of a status: it takes it at the object itself, and at the status
/// it takes the patch and leaves the managed fields as they are.
#[operator_test]
async fn who_has_applied_a_status_is_changed_at_the_object_itself() -> Result<()> {
    let scene = Scene::new("retired-managers").await?;
    let one = scene.create("one", "first").await?;
    let status = json!({ "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource",
        "status": { "message": "kept" } });
    let one = scene
        .resources
        .patch_status(&one.name_any(), &PatchParams::apply("older"), &Patch::Apply(status))
        .await?;
    let at = one.managed_fields().iter().position(|entry| who(entry) == "older Apply status").expect("it");
    let path = format!("/metadata/managedFields/{at}/manager");
    let patch = json!([{ "op": "replace", "path": path, "value": "newer" }]);
    let patch = Patch::<TestResource>::Json(serde_json::from_value(patch)?);
    let params = PatchParams { field_manager: Some("newer".to_owned()), ..PatchParams::default() };
    let before: Vec<_> = one.managed_fields().iter().map(who).collect();
    let at_status = scene.resources.patch_status("one", &params, &patch).await?;
    assert_eq!(at_status.managed_fields().iter().map(who).collect::<Vec<_>>(), before);
    let at_object = scene.resources.patch("one", &params, &patch).await?;
    let expected = before.into_iter().map(|who| who.replace("older", "newer")).collect::<Vec<_>>();
    assert_eq!(at_object.managed_fields().iter().map(who).collect::<Vec<_>>(), expected);
    Ok(())
}
