//! Objects whose deletion takes time, and which meanwhile lose the label by which their informer shows them.

use integration_tests::prelude::*;
use operator_core::{resource::MarkNames, testing::ObjectRequest, workflow::conditions::ResourceDeleted};

use super::{Scene, gone_after, pass, scene, under};
use crate::seams::TestResource;

async fn patch(maps: &Api<ConfigMap>, metadata: Value) -> Result<()> {
    let patch = Patch::Merge(json!({ "metadata": metadata }));
    maps.patch("one-above", &PatchParams::default(), &patch).await?;
    Ok(())
}

/// A primary that is marked for deletion, whose map `one-above` is held by others and has lost the controller's label.
async fn hidden(scene: &Scene, workflow: &Workflow<TestResource>) -> Result<TestOperator> {
    let operator = under(&Faults::none(), scene, scene.managed(&Script::idle(), workflow)).await?;
    scene.create("one", "first").await?;
    let maps = scene.api::<ConfigMap>();
    operator.settled().await?;
    patch(&maps, json!({ "finalizers": ["example.com/draining"] })).await?;
    operator.settled().await?;
    scene.delete("one").await?;
    pass(60).await;
    assert!(maps.get("one-above").await?.metadata.deletion_timestamp.is_some());
    patch(&maps, json!({ "labels": { MarkNames::default().controller(): null } })).await?;
    pass(60).await;
    Ok(operator)
}

/// How often the live object was read.
fn looks(requests: &[ObjectRequest]) -> usize {
    requests.iter().filter(|one| one.resource == "configmaps" && !one.is_write()).count()
}

#[tokio::test(start_paused = true)]
async fn what_has_lost_its_label_while_it_goes_still_keeps_what_it_depends_on() -> Result<()> {
    let scene = scene().await?;
    let below = Child("below").deleted_node();
    let above = Child("above").deleted_node().after(&below);
    let workflow = Workflow::builder().nodes((below, above)).build()?;
    let operator = hidden(&scene, &workflow).await?;
    let maps = scene.api::<ConfigMap>();
    let below = maps.get_opt("one-below").await?;
    assert!(below.is_some_and(|below| below.metadata.deletion_timestamp.is_none()), "it is depended upon");
    assert!(scene.resources.get_opt("one").await?.is_some(), "it waits");
    let log = operator.settled().await?;
    assert_eq!(log.written(), ["DELETE configmaps/one-above -> 200"], "once");
    let looks = looks(&log.requests);
    assert!((1..=10).contains(&looks), "one look in ten seconds at most: {looks}");

    patch(&maps, json!({ "finalizers": null })).await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0), "though no event tells that it has gone");
    let expected = ["DELETE configmaps/one-below -> 200", "PATCH testresources/one -> 200"];
    assert_eq!(operator.settled().await?.written(), expected);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_delete_postcondition_looks_at_the_live_object() -> Result<()> {
    let scene = scene().await?;
    let node = Child("above").node().gone(ResourceDeleted);
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let operator = hidden(&scene, &workflow).await?;
    assert!(scene.resources.get_opt("one").await?.is_some(), "it waits");
    operator.settled().await?;
    patch(&scene.api(), json!({ "finalizers": null })).await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!(operator.settled().await?.written(), ["PATCH testresources/one -> 200"]);
    Ok(())
}

/// An object that goes at once, or that its informer shows, costs no read.
#[tokio::test(start_paused = true)]
async fn what_goes_at_once_is_not_looked_at() -> Result<()> {
    let scene = scene().await?;
    let node = Child("above").node().gone(ResourceDeleted);
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!(looks(&operator.settled().await?.requests), 0);
    Ok(())
}
