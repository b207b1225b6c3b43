//! Deletions: of this very object, until it is done, and only once.

use http::Method;
use integration_tests::prelude::*;
use operator_core::workflow::conditions::ResourceDeleted;

use super::{calm, gone_after, pass, scene, uid_of, under};

/// Creates a map, and deletes it in the clean-up as it is known.
fn keeper() -> Script {
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, primary.value());
            context.resource_operations().server_side_apply(&map).await?;
            Ok(UpdateControl::no_update())
        })
    });
    script.cleanup(|_, _, context| {
        Box::pin(async move {
            if let Some(map) = context.secondary::<ConfigMap>()? {
                context.resource_operations().delete(&*map).await?;
            }
            Ok(Removal::Done)
        })
    })
}

/// Someone deletes the map and creates another one with its name.
async fn replace(scene: &Scene) -> Result<()> {
    let maps = scene.api::<ConfigMap>();
    maps.delete("one", &DeleteParams::default()).await?;
    let map = json!({ "metadata": { "name": "one" }, "data": { "value": "theirs" } });
    maps.create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_has_taken_the_name_just_before_the_deletion_stays() -> Result<()> {
    let (scene, script) = (scene().await?, keeper());
    let others = scene.clone();
    let hook = once_before(Method::DELETE, "/configmaps/one", move || {
        let scene = others.clone();
        Box::pin(async move { replace(&scene).await })
    });
    let controller = script.controller().name("keeper").owns::<ConfigMap>().cleaner(true);
    let builder = scene.operator().transport(hook).register(controller.namespaces([&scene.namespace]));
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "ours").await?;
    pass(10).await;
    let ours = uid_of(&scene, "one").await?;
    scene.delete("one").await?;
    pass(60).await;
    let theirs = uid_of(&scene, "one").await?;
    assert!(theirs.is_some() && theirs != ours, "the other map is still there");
    assert!(scene.resources.get_opt("one").await?.is_none(), "ours is gone, and so is the primary");
    assert_eq!(script.cleanups.count(), 1, "that it was another one is no failure");
    let deletions: Vec<String> = operator.settled().await?.written();
    let deletions: Vec<&String> = deletions.iter().filter(|write| write.starts_with("DELETE")).collect();
    assert_eq!(deletions, ["DELETE configmaps/one -> 409"]);
    operator.stop().await;
    Ok(())
}

/// The server may have reasons for a conflict other than another object with that name.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_refused_is_not_done() -> Result<()> {
    let (scene, script) = (scene().await?, keeper());
    let refusals = Rule::on(Verb::Delete).resource("configmaps").first(2).status(StatusAnswer::conflict());
    let faults = Faults::new([refusals.clone()]);
    let controller = script.controller().name("keeper").owns::<ConfigMap>().cleaner(true);
    let operator = under(&faults, &scene, controller.namespaces([&scene.namespace])).await?;
    let one = scene.create("one", "ours").await?;
    pass(10).await;
    // Nobody collects it.
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": ["example.com/later"] } }));
    let maps = scene.api::<ConfigMap>();
    maps.patch("one", &PatchParams::default(), &patch).await?;
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!((refusals.fired(), script.cleanups.count()), (2, 3), "each refusal is a failure");
    let map = maps.get_opt("one").await?.filter(|map| map.metadata.deletion_timestamp.is_none());
    assert_eq!(map, None, "it was deleted before its primary {:?} went", one.metadata.uid);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_goes_already_is_not_asked_to_go_again() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let node = Child("a").deleted_node().gone(ResourceDeleted);
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    let maps = scene.api::<ConfigMap>();
    let finalizers = |list: &[&str]| Patch::Merge(json!({ "metadata": { "finalizers": list } }));
    maps.patch("one-a", &PatchParams::default(), &finalizers(&["example.com/slow"])).await?;
    pass(10).await;
    operator.settled().await?;
    scene.delete("one").await?;
    pass(10).await;
    // Each of these leads to another clean-up, in which the map is still going.
    for value in ["second", "third"] {
        scene.set("one", value).await?;
        pass(10).await;
    }
    let deletions = |written: Vec<String>| written.iter().filter(|write| write.starts_with("DELETE")).count();
    assert_eq!(deletions(operator.settled().await?.written()), 1);
    assert!(scene.resources.get_opt("one").await?.is_some(), "its end is waited for");
    maps.patch("one-a", &PatchParams::default(), &finalizers(&[])).await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    operator.stop().await;
    Ok(())
}

/// The collector deletes the children of an object that we delete.
#[tokio::test(start_paused = true)]
async fn what_belongs_to_what_we_delete_goes_with_it() -> Result<()> {
    let (scene, script) = (scene().await?, keeper());
    let controller = script.controller().name("keeper").owns::<ConfigMap>().cleaner(true);
    let operator = under(&calm(), &scene, controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "ours").await?;
    pass(10).await;
    let maps = scene.api::<ConfigMap>();
    let owner = maps.get("one").await?;
    let mut inner: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": "inner" } }))?;
    inner.metadata.owner_references = owner.controller_owner_ref(&()).map(|owner| vec![owner]);
    maps.create(&PostParams::default(), &inner).await?;
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!((uid_of(&scene, "one").await?, uid_of(&scene, "inner").await?), (None, None));
    operator.stop().await;
    Ok(())
}
