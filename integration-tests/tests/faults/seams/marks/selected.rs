//! The informer that nodes share shows what the controller's nodes have written, and nothing else.

use integration_tests::prelude::*;
use operator_core::{Context, testing::ObjectRequest};

use super::{pass, saying, scene, somebodys_map, under};

#[operator_test]
async fn other_people_s_objects_never_come_into_memory() -> Result<()> {
    let scene = Scene::new("marks-selected").await?;
    somebodys_map(&scene, "theirs").await?;
    let known = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&known);
    let script = Script::new(move |_, _, context: &mut Context<TestResource>| {
        let source = context.event_source::<ConfigMap>("ConfigMap");
        let keys = source.map(|source| source.cache().keys()).unwrap_or_default();
        *noted.lock() = keys.iter().map(|key| key.name().to_owned()).collect();
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let workflow = workflow_of_one(wanted_map("a"))?;
    let operator = scene.start(scene.managed(&script, &workflow)).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first"), ("theirs", "theirs")]).await?;
    somebodys_map(&scene, "later").await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    scene.until_values([("one-a", "second"), ("theirs", "theirs"), ("later", "theirs")]).await?;
    operator.settled().await?;
    assert_eq!(*known.lock(), ["one-a"]);
    Ok(())
}

/// A create is bound to absence, so nothing is read if nothing is wrong.
#[tokio::test(start_paused = true)]
async fn only_a_conflict_leads_to_a_look_by_name() -> Result<()> {
    let scene = scene().await?;
    let workflow = workflow_of_one(wanted_map("a"))?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    let reads = |requests: &[ObjectRequest]| {
        requests.iter().filter(|one| one.resource == "configmaps" && !one.is_write()).count()
    };
    assert_eq!(reads(&operator.settled().await?.requests), 0, "nothing is wrong");
    // Without the label it has left the source; that isn't its end.
    let edit = json!({ "metadata": { "labels": { "operator-core.io/controller": null } } });
    scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
    pass(10).await;
    let settled = operator.settled().await?;
    let written: Vec<_> =
        settled.written().into_iter().filter(|write| write.contains("configmaps")).collect();
    assert_eq!(written, ["PATCH configmaps/one-a -> 409", "PATCH configmaps/one-a -> 200"]);
    assert_eq!(reads(&settled.requests), 1);
    Ok(())
}
