//! Names that change: of an object, of a node, of a kind that is given up.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use operator_core::{Context, Node, One, workflow::WorkflowBuilder};

use super::{marks, pass, saying, scene, under};

/// Has `older` make things for a primary, then starts `newer` in its place; what is written from then on.
async fn upgraded(
    older: impl FnOnce(WorkflowBuilder<TestResource>) -> WorkflowBuilder<TestResource>,
    newer: impl FnOnce(WorkflowBuilder<TestResource>) -> WorkflowBuilder<TestResource>,
) -> Result<(Scene, Vec<String>)> {
    let scene = scene().await?;
    let script = Script::idle();
    let older = older(Workflow::builder()).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &older)).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    operator.stop().await;
    let newer = newer(Workflow::builder()).build()?;
    let controller = scene.managed(&script, &newer).generation_aware(false);
    let operator = under(&Faults::none(), &scene, controller).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    // A second run has nothing to do.
    scene.patch("one", json!({ "metadata": { "annotations": { "again": "1" } } })).await?;
    pass(60).await;
    let second = operator.settled().await?;
    assert_eq!((second.runs_of(&scene.key("one")), second.written()), (1, Vec::new()), "the second run");
    Ok((scene, written))
}

/// The same with another controller in place of another workflow.
async fn renamed(
    older: impl FnOnce(ControllerBuilder<Script>) -> ControllerBuilder<Script>,
    newer: impl FnOnce(ControllerBuilder<Script>) -> ControllerBuilder<Script>,
) -> Result<(Scene, Vec<String>)> {
    let scene = scene().await?;
    scene.failures.allow("exists already");
    let workflow = workflow_of_one(wanted_map("a"))?;
    let operator = under(&Faults::none(), &scene, older(scene.managed(&Script::idle(), &workflow))).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    operator.stop().await;
    let operator = under(&Faults::none(), &scene, newer(scene.managed(&Script::idle(), &workflow))).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    Ok((scene, written))
}

#[tokio::test(start_paused = true)]
async fn a_renamed_controller_takes_its_objects_over_where_its_former_name_is_said() -> Result<()> {
    let (scene, written) =
        renamed(|of| of.name("older"), |of| of.name("newer").formerly(["oldest", "older"])).await?;
    assert_eq!(written, ["PATCH configmaps/one-a -> 200"]);
    assert_eq!(marks(&scene.api::<ConfigMap>().get("one-a").await?)[0], "newer");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_renamed_controller_is_another_one_where_nothing_is_said() -> Result<()> {
    let (scene, written) = renamed(|of| of.name("older"), |of| of.name("newer")).await?;
    assert!(written.iter().all(|write| write == "PATCH configmaps/one-a -> 409"), "{written:?}");
    assert_eq!(marks(&scene.api::<ConfigMap>().get("one-a").await?)[0], "older");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_renamed_field_manager_applies_its_objects_once() -> Result<()> {
    let (scene, written) = renamed(|of| of.field_manager("older"), |of| of.field_manager("newer")).await?;
    assert_eq!(written, ["PATCH configmaps/one-a -> 200"]);
    assert_eq!(scene.values().await?.len(), 1);
    Ok(())
}

fn map(node: &'static str, object: &'static str) -> Node<TestResource, One<ConfigMap>> {
    wanted_map(object).named(node)
}

#[tokio::test(start_paused = true)]
async fn a_renamed_node_takes_its_object_over_with_one_write() -> Result<()> {
    let (scene, written) =
        upgraded(|of| of.nodes((map("html", "page"),)), |of| of.nodes((map("page", "page"),))).await?;
    assert_eq!(written, ["PATCH configmaps/one-page -> 200"]);
    assert_eq!(marks(&scene.api::<ConfigMap>().get("one-page").await?)[1], "page");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn two_nodes_may_change_their_names_with_one_another() -> Result<()> {
    let (scene, written) = upgraded(
        |of| of.nodes((map("a", "first"),)).nodes((map("b", "second"),)),
        |of| of.nodes((map("c", "first"),)).nodes((map("d", "second"),)),
    )
    .await?;
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written.iter().all(|write| write.starts_with("PATCH")), "{written:?}");
    assert_eq!(scene.values().await?.len(), 2);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_object_of_an_old_name_goes_after_the_new_one_is_there() -> Result<()> {
    let (scene, written) =
        upgraded(|of| of.nodes((map("page", "old"),)), |of| of.nodes((map("page", "new"),))).await?;
    assert_eq!(written, ["PATCH configmaps/one-new -> 201", "DELETE configmaps/one-old -> 200"]);
    assert_eq!(scene.values().await?.len(), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_a_node_has_made_goes_with_the_node() -> Result<()> {
    let (scene, written) = upgraded(
        |of| of.nodes((map("kept", "kept"),)).nodes((map("given-up", "gone"),)),
        |of| of.nodes((map("kept", "kept"),)),
    )
    .await?;
    assert_eq!(written, ["DELETE configmaps/one-gone -> 200"]);
    assert_eq!(scene.values().await?.len(), 1);
    Ok(())
}

/// A node that fails may want what a former node has left behind: nothing goes before it has come to an end.
#[tokio::test(start_paused = true)]
async fn nothing_of_a_former_node_goes_before_all_others_have_come_to_an_end() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("not yet");
    let operator =
        under(&Faults::none(), &scene, scene.managed(&saying(), &workflow_of_one(wanted_map("a"))?)).await?;
    scene.create("one", "no").await?;
    pass(10).await;
    operator.stop().await;
    let undecided = wish(|primary: &TestResource, _: &Context<TestResource>| {
        let value = (primary.spec.value == "yes").then_some("said").ok_or("not yet")?;
        Ok(map_of(primary, "a", value))
    });
    let newer = workflow_of_one(node(undecided).named("b"))?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &newer)).await?;
    pass(120).await;
    assert_eq!(scene.values().await?.len(), 1, "what the node may want is gone");
    scene.set("one", "yes").await?;
    pass(120).await;
    let written = operator.settled().await?.written();
    assert!(written.iter().all(|write| !write.starts_with("DELETE")), "{written:?}");
    assert_eq!(marks(&scene.api::<ConfigMap>().get("one-a").await?)[1], "b");
    Ok(())
}

fn secret() -> Node<TestResource, One<Secret>> {
    let desired = wish(|primary: &TestResource, _: &Context<TestResource>| {
        Ok(Secret { metadata: map_of(primary, "key", "").metadata, ..Secret::default() })
    });
    node(desired).named("key")
}

#[tokio::test(start_paused = true)]
async fn what_was_of_a_kind_that_is_given_up_goes_where_it_is_named() -> Result<()> {
    let (scene, written) = upgraded(
        |of| of.nodes((map("kept", "kept"),)).nodes((secret(),)),
        |of| of.nodes((map("kept", "kept"),)).retired::<Secret>("key"),
    )
    .await?;
    assert_eq!(written, ["DELETE secrets/one-key -> 200"]);
    assert!(scene.api::<Secret>().list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

/// The name of a node says nothing of another kind: what it made of the one goes when it makes the other.
#[tokio::test(start_paused = true)]
async fn what_a_node_has_made_goes_when_it_makes_another_kind() -> Result<()> {
    let (scene, written) =
        upgraded(|of| of.nodes((secret(),)), |of| of.retired::<Secret>("key").nodes((map("key", "kept"),)))
            .await?;
    assert_eq!(written, ["PATCH configmaps/one-kept -> 201", "DELETE secrets/one-key -> 200"]);
    assert!(scene.api::<Secret>().list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_named_as_another_node_s_stays() -> Result<()> {
    let (scene, written) = upgraded(
        |of| of.nodes((secret(),)),
        |of| of.retired::<Secret>("another").nodes((map("kept", "kept"),)),
    )
    .await?;
    assert_eq!(written, ["PATCH configmaps/one-kept -> 201"]);
    assert_eq!(scene.api::<Secret>().list(&ListParams::default()).await?.items.len(), 1);
    Ok(())
}

fn volume(name: &'static str, prunes: bool) -> Node<TestResource, One<PersistentVolumeClaim>> {
    let desired = wish(move |primary: &TestResource, _: &Context<TestResource>| {
        let spec =
            json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
        Ok(PersistentVolumeClaim {
            metadata: map_of(primary, name, "").metadata,
            spec: Some(serde_json::from_value(spec)?),
            ..PersistentVolumeClaim::default()
        })
    });
    let dependent = node(desired).named("data").create_only();
    if prunes { dependent.prune_data() } else { dependent }
}

/// How many there are that don't go: a finalizer of the cluster keeps each until nobody uses it.
async fn claims(scene: &Scene) -> Result<usize> {
    let claims = scene.api::<PersistentVolumeClaim>().list(&ListParams::default()).await?.items;
    Ok(claims.iter().filter(|claim| claim.metadata.deletion_timestamp.is_none()).count())
}

#[tokio::test(start_paused = true)]
async fn a_volume_of_an_old_name_goes_only_where_that_is_said() -> Result<()> {
    for (prunes, left) in [(false, 2), (true, 1)] {
        let (scene, written) =
            upgraded(|of| of.nodes((volume("old", prunes),)), |of| of.nodes((volume("new", prunes),)))
                .await?;
        assert_eq!(claims(&scene).await?, left, "{written:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_volume_of_a_former_node_goes_only_where_that_is_said() -> Result<()> {
    for (prunes, left) in [(false, 1), (true, 0)] {
        let newer = |of: WorkflowBuilder<TestResource>| {
            let of = of.retired::<PersistentVolumeClaim>("data").nodes((map("kept", "kept"),));
            if prunes { of.prune_data() } else { of }
        };
        let (scene, written) = upgraded(|of| of.nodes((volume("old", false),)), newer).await?;
        assert_eq!(claims(&scene).await?, left, "{written:?}");
    }
    Ok(())
}
