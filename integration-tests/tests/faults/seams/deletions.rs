//! The object that is deleted if the deletion has no uid, as user code may write it.

use integration_tests::prelude::*;

use super::{pass, scene, under};

fn map(namespace: &str, by: &str) -> Result<ConfigMap, serde_json::Error> {
    serde_json::from_value(
        json!({ "metadata": { "name": "state", "namespace": namespace }, "data": { "by": by } }),
    )
}

/// Creates the map in each run, and deletes it in its clean-up, both times as it was just built.
fn keeper(namespace: &str) -> Script {
    let (made, removed) = (namespace.to_owned(), namespace.to_owned());
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let namespace = made.clone();
        Box::pin(async move {
            context.resource_operations().create(&map(&namespace, "us")?).await?;
            Ok(UpdateControl::no_update())
        })
    });
    script.cleanup(move |_, _, context| {
        let namespace = removed.clone();
        Box::pin(async move {
            context.resource_operations().delete(&map(&namespace, "whom?")?).await?;
            Ok(Removal::Done)
        })
    })
}

/// The creator of the map that exists in the end.
async fn left_after(scene: &Scene, replaced: bool) -> Result<Option<String>> {
    let script = keeper(&scene.namespace);
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let operator = under(&Faults::none(), scene, controller.owns::<ConfigMap>()).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    let maps = scene.api::<ConfigMap>();
    if replaced {
        maps.delete("state", &DeleteParams::default()).await?;
        maps.create(&PostParams::default(), &map(&scene.namespace, "them")?).await?;
        pass(10).await;
    }
    scene.delete("one").await?;
    pass(60).await;
    assert!(scene.resources.get_opt("one").await?.is_none(), "cleaned up");
    drop(operator);
    Ok(maps.get_opt("state").await?.and_then(|map| map.data?.get("by").cloned()))
}

#[tokio::test(start_paused = true)]
async fn an_object_that_another_tool_has_made_under_the_name_stays() -> Result<()> {
    let scene = scene().await?;
    assert_eq!(left_after(&scene, true).await?.as_deref(), Some("them"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn control_what_the_operator_has_made_goes() -> Result<()> {
    let scene = scene().await?;
    assert_eq!(left_after(&scene, false).await?, None);
    Ok(())
}
