//! Others remove their finalizer while our clean-up runs: ours is removed as well, and the clean-up runs once.

use integration_tests::prelude::*;

const THEIRS: &str = "example.com/theirs";

#[operator_test]
async fn the_finalizer_goes_after_one_clean_up() -> Result<()> {
    let scene = Scene::new("cleanup-conflict").await?;
    let gate = Gate::new();
    let script = Script::<TestResource>::idle().cleanup({
        let gate = gate.clone();
        move |_, _, _| {
            let gate = gate.clone();
            Box::pin(async move {
                gate.pass().await;
                Ok(Removal::Done)
            })
        }
    });
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    // Theirs is the first in the list, so that ours has another position after its removal.
    let mut one = TestResource::new("one", TestResourceSpec { value: "first".to_owned() });
    one.metadata.finalizers = Some(vec![THEIRS.to_owned()]);
    scene.resources.create(&PostParams::default(), &one).await?;
    operator.settled().await?;
    scene.delete("one").await?;
    gate.arrived().await?;
    let ours = "testresources.conformance.operator-core.io/finalizer";
    scene.patch("one", json!({ "metadata": { "finalizers": [ours] } })).await?;
    gate.let_through(1);
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(script.cleanups.count(), 1);
    Ok(())
}
