//! Without server-side apply: exactly one finalizer, one run and one clean-up, also where others have a finalizer.
//! No apply owns the finalizer.

use integration_tests::prelude::*;

const OURS: &str = "testresources.conformance.operator-core.io/finalizer";

#[operator_test]
async fn one_finalizer_one_run_one_clean_up() -> Result<()> {
    let scene = Scene::new("add-finalizer-no-ssa").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().name("sample").cleaner(true);
    let controller = controller.use_ssa_to_patch_primary(false);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    let mut two = TestResource::new("two", TestResourceSpec { value: "first".to_owned() });
    two.metadata.finalizers = Some(vec!["example.com/theirs".to_owned()]);
    scene.resources.create(&PostParams::default(), &two).await?;
    let settled = operator.settled().await?;
    for name in ["one", "two"] {
        assert_eq!(settled.runs_of(&scene.key(name)), 1, "{name}");
    }
    let (one, two) = (scene.resources.get("one").await?, scene.resources.get("two").await?);
    assert_eq!(one.finalizers(), [OURS]);
    assert_eq!(two.finalizers(), ["example.com/theirs", OURS]);
    for object in [&one, &two] {
        assert_eq!(owners(object, "sample"), [("Update", false), ("Update", true)], "no apply");
    }

    for name in ["one", "two"] {
        scene.delete(name).await?;
    }
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(scene.resources.get("two").await?.finalizers(), ["example.com/theirs"]);
    scene.patch("two", json!({ "metadata": { "finalizers": null } })).await?;
    scene.until_gone("two").await?;
    operator.settled().await?;
    assert_eq!((script.runs.count(), script.cleanups.count()), (2, 2));
    Ok(())
}
