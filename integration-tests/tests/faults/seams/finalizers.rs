//! Finalizers that this version of the controller doesn't use.

use integration_tests::prelude::*;

use super::{pass, scene, under};

/// Another controller of the same kind uses the default finalizer: we may not remove it.
#[tokio::test(start_paused = true)]
async fn what_another_controller_has_put_there_stays() -> Result<()> {
    let scene = scene().await?;
    scene.create("one", "first").await?;
    let name = "testresources.conformance.operator-core.io/finalizer";
    let theirs = json!({ "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource",
        "metadata": { "name": "one", "finalizers": [name] } });
    scene.resources.patch("one", &PatchParams::apply("another"), &Patch::Apply(theirs)).await?;
    let plain = Script::<TestResource>::idle().controller().namespaces([&scene.namespace]);
    let operator = under(&Faults::none(), &scene, plain).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    assert_eq!(written, Vec::<String>::new());
    assert_eq!(scene.resources.get("one").await?.finalizers(), [name]);
    Ok(())
}
