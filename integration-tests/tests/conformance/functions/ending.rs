//! The end of a primary: what is deleted first, what its end waits for, and what the cluster collects.

use anyhow::Result;
use integration_tests::prelude::*;
use kube::api::PropagationPolicy;
use operator_core::prelude::*;

use super::{a_map, a_secret, done, says};

fn network(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn database(_: &TestResource) -> Secret {
    a_secret()
}

/// Someone keeps the database for a while, or releases it.
async fn keep_database(scene: &Scene, finalizers: Value) -> Result<()> {
    let keep = Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    scene.api::<Secret>().patch("one-database", &PatchParams::default(), &keep).await?;
    Ok(())
}

fn client(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

#[operator_test]
async fn what_is_deleted_first_is_gone_before_its_primary_and_what_comes_after_it_too() -> Result<()> {
    let scene = Scene::new("functions-ending").await?;
    let nodes = (network, database.after(network).delete_first(), client.after(database));
    let controller = Controller::of::<TestResource>().workflow(nodes);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    operator.settled().await?;

    // Somebody keeps the database for a while.
    let secrets = scene.api::<Secret>();
    keep_database(&scene, json!(["example.com/keep"])).await?;
    operator.settled().await?;
    scene.delete("one").await?;
    eventually("the deletion of the database", async || {
        let database = secrets.get("one-database").await?;
        Ok(database.metadata.deletion_timestamp.is_some().then_some(()))
    })
    .await?;
    let going = done(&operator.settled().await?);
    let expected = ["DELETE configmaps/one-client -> 200", "DELETE secrets/one-database -> 200"];
    assert_eq!(going, expected, "from the far end, and the network is left to the collector");
    let one = scene.resources.get("one").await?;
    assert!(one.metadata.finalizers.is_some(), "the primary waits for the database");

    keep_database(&scene, json!(null)).await?;
    scene.until_gone("one").await?;
    Ok(())
}

/// Whether somebody has drained it.
fn drained(database: &Secret) -> Verdict {
    let drained = database.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key("drained"));
    Verdict::when(drained, "it isn't drained yet")
}

#[operator_test]
async fn the_end_of_a_node_waits_for_its_condition_while_there_is_something() -> Result<()> {
    let scene = Scene::new("functions-gone").await?;
    let controller = Controller::of::<TestResource>().workflow((database.gone(drained),));
    it_ends_when_it_is_drained(&scene, controller).await
}

#[derive(ControllerConfiguration)]
#[controller(primary = TestResource)]
#[workflow(database(gone(drained)))]
struct Databases;

#[operator_test]
async fn the_end_of_a_derived_node_waits_for_its_condition() -> Result<()> {
    let scene = Scene::new("derived-gone").await?;
    it_ends_when_it_is_drained(&scene, Databases.controller()).await
}

async fn it_ends_when_it_is_drained(
    scene: &Scene,
    controller: ControllerBuilder<impl Reconciler<Primary = TestResource>>,
) -> Result<()> {
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    operator.settled().await?;
    let secrets = scene.api::<Secret>();
    let merge = |patch| Patch::Merge(patch);
    let kept = json!({ "metadata": { "finalizers": ["example.com/keep"] } });
    secrets.patch("one-database", &PatchParams::default(), &merge(kept)).await?;
    operator.settled().await?;
    scene.delete("one").await?;
    assert_eq!(done(&operator.settled().await?), ["DELETE secrets/one-database -> 200"]);
    assert!(scene.resources.get("one").await?.metadata.finalizers.is_some(), "it isn't drained");
    // It goes on to be there, and counts as gone.
    let drained = json!({ "metadata": { "labels": { "drained": "" } } });
    secrets.patch("one-database", &PatchParams::default(), &merge(drained)).await?;
    scene.until_gone("one").await?;
    assert!(secrets.get_opt("one-database").await?.is_some());
    let let_go = json!({ "metadata": { "finalizers": null } });
    secrets.patch("one-database", &PatchParams::default(), &merge(let_go)).await?;
    Ok(())
}

#[operator_test]
async fn a_cleaner_cleans_up_its_explicit_workflow_and_the_primary_waits_for_it() -> Result<()> {
    let scene = Scene::new("functions-clean-up").await?;
    let script = Script::new(|_, _: Arc<TestResource>, cx| {
        Box::pin(async move {
            cx.run().await?;
            Ok(UpdateControl::no_update())
        })
    });
    let script = script.cleanup(|_, primary: Arc<TestResource>, cx| {
        Box::pin(async move {
            if says(&primary, "keep") {
                return Ok(Removal::keep());
            }
            let run = cx.clean_up().await?;
            assert!(run.is_cleanup());
            assert_eq!(run.nodes().len(), 2, "it tells of each node");
            Ok(Removal::Done)
        })
    });
    let workflow =
        operator_core::Workflow::builder().nodes((network, database.after(network).delete_first()));
    let controller = scene.controller(&script).cleaner(true).workflow(workflow.explicit_invocation());
    let operator = scene.start(controller).await?;
    scene.create("one", "keep").await?;
    operator.settled().await?;
    let secrets = scene.api::<Secret>();
    keep_database(&scene, json!(["example.com/keep"])).await?;
    operator.settled().await?;

    scene.delete("one").await?;
    eventually("the clean-up", async || Ok((script.cleanups.count() > 0).then_some(()))).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "nothing goes before the cleaner says so");

    scene.patch("one", json!({ "spec": { "value": "go" } })).await?;
    eventually("the deletion of the database", async || {
        let database = secrets.get("one-database").await?;
        Ok(database.metadata.deletion_timestamp.is_some().then_some(()))
    })
    .await?;
    assert_eq!(done(&operator.settled().await?), ["DELETE secrets/one-database -> 200"]);
    let one = scene.resources.get("one").await?;
    assert!(one.metadata.finalizers.is_some(), "the cleaner is done, and the primary waits for the database");

    keep_database(&scene, json!(null)).await?;
    scene.until_gone("one").await?;
    assert!(secrets.get_opt("one-database").await?.is_none());
    Ok(())
}

fn queue(primary: &TestResource) -> Option<Secret> {
    primary.spec.value.is_empty().then(a_secret)
}

#[operator_test]
async fn what_a_deleted_object_owns_goes_or_stays_as_the_node_says() -> Result<()> {
    let scene = Scene::with_workloads("functions-propagation").await?;
    let queue = node(queue).propagation(PropagationPolicy::Orphan);
    let controller = Controller::of::<TestResource>().workflow((queue,));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    operator.settled().await?;
    let uid = scene.api::<Secret>().get("one-queue").await?.uid();
    let owner = json!([{ "apiVersion": "v1", "kind": "Secret", "name": "one-queue", "uid": uid }]);
    let owned = json!({ "metadata": { "name": "letters", "ownerReferences": owner } });
    let maps = scene.api::<ConfigMap>();
    maps.create(&PostParams::default(), &from_json(&owned)?).await?;
    scene.patch("one", json!({ "spec": { "value": "none" } })).await?;
    eventually("the end of the queue, and letters of nobody", async || {
        let letters = maps.get("letters").await?;
        let queue = scene.api::<Secret>().get_opt("one-queue").await?;
        Ok((queue.is_none() && letters.owner_references().is_empty()).then_some(()))
    })
    .await?;
    Ok(())
}
