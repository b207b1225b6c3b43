//! A bulk dependent deletes its own objects, and no others that a mapper shows it.

use integration_tests::prelude::*;
use operator_core::controller::IntoController;

use super::{pass, saying, scene, under};

/// Wants a Secret of its own.
fn own(primary: &TestResource) -> Vec<Secret> {
    vec![Secret { metadata: meta_of(primary, "own"), ..Secret::default() }]
}

/// Wants none.
fn no_own(_: &TestResource) -> Vec<Secret> {
    Vec::new()
}

/// The Secret that the spec names.
fn referenced(primary: &TestResource) -> Vec<ObjectKey> {
    let namespace = primary.metadata.namespace.as_deref().unwrap_or_default();
    vec![ObjectKey::namespaced(namespace, &primary.spec.value)]
}

async fn a_user_s_secret_survives(wants_one: bool) -> Result<()> {
    let scene = scene().await?;
    let mine = json!({ "metadata": { "name": "mine" }, "stringData": { "password": "irreplaceable" } });
    let secrets = scene.api::<Secret>();
    secrets.create(&PostParams::default(), &serde_json::from_value(mine)?).await?;
    // The same source serves the node, so that what the mapper relates is all that it sees.
    let source = InformerEventSource::<Secret>::new().name("referenced");
    let own = if wants_one { node(own) } else { node(no_own).named("own") };
    let own = own.event_source("referenced");
    let controller =
        scene.managed(&Script::idle(), &workflow_of_one(own)?).watches_referenced(source, referenced);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "mine").await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    assert!(secrets.get_opt("mine").await?.is_some(), "the user's Secret is gone: {written:?}");
    assert_eq!(secrets.get_opt("one-own").await?.is_some(), wants_one, "{written:?}");
    assert!(written.iter().all(|write| !write.contains("secrets/mine")), "{written:?}");
    // And what it has made goes when it isn't wanted any more, although no mapper relates it.
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_bulk_that_wants_nothing_leaves_the_secret_that_the_spec_names() -> Result<()> {
    a_user_s_secret_survives(false).await
}

#[tokio::test(start_paused = true)]
async fn a_bulk_that_wants_another_secret_leaves_the_secret_that_the_spec_names() -> Result<()> {
    a_user_s_secret_survives(true).await
}

#[tokio::test(start_paused = true)]
async fn a_declared_source_is_never_silently_taken_for_a_node_that_writes() -> Result<()> {
    let workflow = workflow_of_one(own)?;
    let mapped = Script::<TestResource>::idle()
        .controller()
        .workflow(&workflow)
        .watches_referenced(InformerEventSource::<Secret>::new(), referenced);
    let mistakes = mapped.into_controller().err().map(|mistakes| mistakes.to_string()).unwrap_or_default();
    assert!(mistakes.contains("would replace its informer"), "{mistakes}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_bulk_leaves_a_map_that_a_user_has_given_the_primary_as_owner() -> Result<()> {
    let scene = scene().await?;
    let workflow = workflow_of_one(node(counted_maps))?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    let one = scene.create("one", "1 a").await?;
    pass(10).await;
    let owner = json!({ "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource", "name": "one",
        "uid": one.metadata.uid });
    let map = json!({ "metadata": { "name": "theirs", "ownerReferences": [owner] }, "data": { "value": "theirs" } });
    let maps = scene.api::<ConfigMap>();
    maps.create(&PostParams::default(), &serde_json::from_value(map)?).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    assert!(maps.get_opt("theirs").await?.is_some(), "it is gone: {written:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_bulk_and_a_single_of_one_kind_do_not_fight() -> Result<()> {
    let scene = scene().await?;
    let workflow = Workflow::builder().nodes((counted_maps, wanted_map("single"))).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "2 a").await?;
    pass(10).await;
    for value in ["2 b", "1 c", "1 d"] {
        scene.set("one", value).await?;
        pass(10).await;
    }
    let written = operator.settled().await?.written();
    let deletions: Vec<_> = written.iter().filter(|write| write.starts_with("DELETE")).collect();
    assert_eq!(deletions, ["DELETE configmaps/one-1 -> 200"], "only the item that isn't wanted any more");
    Ok(())
}
