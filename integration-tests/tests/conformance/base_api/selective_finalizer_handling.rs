//! User code gives a finalizer to some objects only, and both kinds can be deleted.

use integration_tests::prelude::*;

const FINALIZER: &str = "testresources.conformance.operator-core.io/finalizer";

#[operator_test]
async fn some_have_a_finalizer_and_all_can_go() -> Result<()> {
    let scene = Scene::new("selective-finalizer").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if context.primary_is_deleted() {
                return Ok(UpdateControl::no_update());
            }
            let operations = context.resource_operations();
            if primary.metadata.deletion_timestamp.is_some() {
                assert!(!operations.add_finalizer(FINALIZER).await?, "a marked primary takes none");
                // What isn't there is taken off without a request.
                operations.remove_finalizer("example.com/none").await?;
                operations.remove_finalizer(FINALIZER).await?;
            } else if primary.spec.value == "with" {
                operations.add_finalizer(FINALIZER).await?;
                operations.add_finalizer(FINALIZER).await?;
            }
            // An apply of the primary takes nothing off.
            let mut applied = TestResource::new(&primary.name_any(), primary.spec.clone());
            applied.metadata.labels = Some([("seen".to_owned(), "yes".to_owned())].into());
            let alive = primary.metadata.deletion_timestamp.is_none();
            Ok(if alive { UpdateControl::patch_resource(applied) } else { UpdateControl::no_update() })
        })
    });
    let controller = scene.controller(&script).name("sample").trigger_on_all_events(true);
    let operator = scene.start(controller).await?;
    scene.create("one", "with").await?;
    scene.create("two", "without").await?;
    operator.settled().await?;
    // Of a run that changes something else the finalizer is still there.
    scene.patch("one", json!({ "spec": { "value": "changed" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one -> 200"], "the apply alone");
    let (one, two) = (scene.resources.get("one").await?, scene.resources.get("two").await?);
    assert_eq!((one.finalizers(), two.finalizers()), (&[FINALIZER.to_owned()][..], &[][..]));
    assert_eq!(owners(&one, "sample"), [("Apply", true), ("Update", false), ("Update", true)]);

    for name in ["one", "two"] {
        scene.delete(name).await?;
        scene.until_gone(name).await?;
    }
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one -> 200"], "its finalizer goes");
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, &footprint.leftovers[..]), (0, &[][..]));
    Ok(())
}
