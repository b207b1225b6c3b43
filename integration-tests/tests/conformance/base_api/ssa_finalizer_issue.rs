//! An object that was applied by the controller's own field manager. JOSDK documents here that the apply of the finalizer
//! drops what the manager had applied before, and that this should not be done; ours notices it, and drops nothing.

use integration_tests::prelude::*;

#[operator_test]
async fn what_the_same_manager_has_applied_stays() -> Result<()> {
    let scene = Scene::new("ssa-finalizer-issue").await?;
    for manager in ["sample", "another"] {
        let object = json!({
            "apiVersion": "conformance.operator-core.io/v1",
            "kind": "TestResource",
            "metadata": { "name": manager, "labels": { "applied": "with-it" } },
            "spec": { "value": "first" },
        });
        scene.resources.patch(manager, &PatchParams::apply(manager), &Patch::Apply(object)).await?;
    }
    let controller = Script::<TestResource>::idle().controller().name("sample").cleaner(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let settled = operator.settled().await?;
    for manager in ["sample", "another"] {
        assert_eq!(settled.runs_of(&scene.key(manager)), 1, "{manager}");
        let object = scene.resources.get(manager).await?;
        assert_eq!(object.finalizers().len(), 1, "{manager}");
        assert_eq!(object.labels().get("applied").map(String::as_str), Some("with-it"), "{manager}");
        scene.delete(manager).await?;
        scene.until_gone(manager).await?;
    }
    Ok(())
}
