//! Two controllers, each for one version of one definition, share its objects by their labels. An object that a version
//! can't decode stops nothing, unlike in JOSDK's informer: it is reported with its name and the reason, the others are
//! reconciled, and the report ends when it is repaired.

use integration_tests::prelude::*;

/// The scene, and an operator with the controllers `first` and `second`.
struct World {
    scene: Scene<LateTestResource>,
    numbered: Api<NumberedTestResource>,
    operator: TestOperator,
    first: Script<LateTestResource>,
    second: Script<NumberedTestResource>,
    /// How many sources have stopped.
    stopped: Arc<AtomicUsize>,
}

async fn start(scene: Scene<LateTestResource>) -> Result<World> {
    scene.define(late_in_two_versions("v1")?).await?;
    let first =
        Script::new(|_, _: Arc<LateTestResource>, _| Box::pin(async { Ok(Said::status(said("by first"))) }));
    let second = Script::new(|_, _: Arc<NumberedTestResource>, _| {
        Box::pin(async { Ok(Said::status(said("by second"))) })
    });
    let stopped = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&stopped);
    let of_second = second.controller().name("second").namespaces([&scene.namespace]);
    let builder = scene
        .operator()
        .register(scene.controller(&first).name("first").label_selector("!version"))
        .register(of_second.label_selector("version in (v2)"))
        .on_source_stopped(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
    let (operator, numbered) = (TestOperator::start(builder).await?, scene.api());
    Ok(World { scene, numbered, operator, first, second, stopped })
}

/// Of the second version, whose value the first one can't decode.
fn number(label: Option<&str>) -> NumberedTestResource {
    let mut object = NumberedTestResource::new("two", NumberedTestResourceSpec { value: 2 });
    object.labels_mut().extend(label.map(|version| ("version".to_owned(), version.to_owned())));
    object
}

#[operator_test]
async fn each_version_has_its_own_controller() -> Result<()> {
    let (_turn, scene) = Scene::late("multi-version-crd").await?;
    let world = start(scene).await?;
    world.scene.create("one", "text").await?;
    world.numbered.create(&PostParams::default(), &number(Some("v2"))).await?;
    let settled = world.operator.settled().await?;
    let written = ["PATCH latetestresources/one/status -> 200", "PATCH latetestresources/two/status -> 200"];
    let mut writes = settled.written();
    writes.sort_unstable();
    assert_eq!(writes, written);
    assert_eq!(world.scene.resources.get("one").await?.status, Some(said("by first")));
    assert_eq!(world.numbered.get("two").await?.status, Some(said("by second")));
    assert_eq!((world.first.runs.of("one").len(), world.first.runs.count()), (1, 1));
    assert_eq!((world.second.runs.of("two").len(), world.second.runs.count()), (1, 1));
    assert_eq!(world.operator.operator().undecodable_objects().await, []);
    Ok(())
}

#[operator_test]
async fn what_a_version_cannot_decode_is_told_and_its_controller_goes_on() -> Result<()> {
    let (_turn, scene) = Scene::late("multi-version-crd").await?;
    let world = start(scene).await?;
    world.numbered.create(&PostParams::default(), &number(None)).await?;
    let undecodable = async || world.operator.operator().undecodable_objects().await;
    let told = eventually("the object to be told", async || Ok(undecodable().await.pop())).await?;
    assert_eq!((&*told.controller, &*told.source), ("first", "primary"));
    assert_eq!(told.object, world.scene.key("two"));
    assert_eq!(told.reason, "spec.value: invalid type, expected a string");

    world.scene.create("one", "text").await?;
    let settled = world.operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH latetestresources/one/status -> 200"]);
    assert_eq!(world.scene.resources.get("one").await?.status, Some(said("by first")));
    assert_eq!(world.numbered.get("two").await?.status, None);
    assert_eq!((world.first.runs.count(), world.second.runs.count()), (1, 0));
    assert!(world.operator.unhealthy_sources().await.is_empty());
    assert_eq!(world.stopped.load(Ordering::SeqCst), 0, "no source has stopped");

    // With its label it is the other controller's.
    let label = Patch::Merge(json!({ "metadata": { "labels": { "version": "v2" } } }));
    world.numbered.patch("two", &PatchParams::default(), &label).await?;
    eventually("the end of the report", async || Ok(undecodable().await.is_empty().then_some(()))).await?;
    world.operator.settled().await?;
    assert_eq!(world.numbered.get("two").await?.status, Some(said("by second")));
    assert_eq!((world.first.runs.count(), world.second.runs.count()), (1, 1));
    Ok(())
}
