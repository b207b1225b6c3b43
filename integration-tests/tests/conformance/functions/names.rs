//! Default names of objects, and an object that is renamed.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use operator_core::prelude::*;

use super::{a_map, done};

fn of_team(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn named(primary: &TestResource) -> ConfigMap {
    let mut map = a_map(primary);
    map.metadata.name = Some(format!("said-{}", primary.name_any()));
    map
}

/// Generic functions are nodes of their own.
fn numbered<const N: usize>(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

#[operator_test]
async fn a_name_is_made_of_primary_and_node_unless_it_is_said() -> Result<()> {
    let scene = Scene::new("functions-names").await?;
    let controller = Controller::of::<TestResource>().workflow((
        of_team,
        named.after(of_team),
        numbered::<1>.named("first").after(named),
        numbered::<2>.named("Second_One").after(numbered::<1>),
    ));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    let created = operator.settled().await?;
    let expected = [
        "PATCH configmaps/one-of-team -> 201",
        "PATCH configmaps/said-one -> 201",
        "PATCH configmaps/one-first -> 201",
        "PATCH configmaps/one-second-one -> 201",
    ];
    assert_eq!(done(&created), expected);

    scene.create("two.dots", "").await?;
    let created = operator.settled().await?;
    let first = done(&created).into_iter().next().unwrap_or_default();
    assert!(
        first.starts_with("PATCH configmaps/two-dots-of-team-"),
        "a hash tells it from `two-dots`: {first}"
    );
    Ok(())
}

/// One whose object says its name.
fn said(primary: &TestResource) -> ConfigMap {
    named(primary)
}

#[operator_test]
async fn a_function_that_is_renamed_makes_its_object_anew_unless_the_object_says_its_name() -> Result<()> {
    let scene = Scene::new("functions-renamed").await?;
    let controller = || Controller::of::<TestResource>().namespaces([&scene.namespace]);
    let before = controller().workflow((of_team.named("old"), named.after(of_team)));
    let operator = scene.start(before).await?;
    scene.create("one", "").await?;
    let created = done(&operator.settled().await?);
    assert_eq!(created, ["PATCH configmaps/one-old -> 201", "PATCH configmaps/said-one -> 201"]);
    operator.stop().await;

    let operator = scene.start(controller().workflow((of_team, said.after(of_team)))).await?;
    let renamed = done(&operator.settled().await?);
    let expected = [
        "PATCH configmaps/one-of-team -> 201",
        "PATCH configmaps/said-one -> 200",
        "DELETE configmaps/one-old -> 200",
    ];
    assert_eq!(renamed, expected);
    operator.stop().await;

    let operator = scene.start(controller().workflow((of_team, said.named("said").after(of_team)))).await?;
    assert_eq!(done(&operator.settled().await?), [""; 0], "a name that is pinned is the same one");
    Ok(())
}

fn zone(primary: &TestResource) -> Namespace {
    let mut zone = Namespace::default();
    zone.metadata.name = Some(format!("{}-zone", primary.name_any()));
    zone
}

#[operator_test]
async fn what_has_no_namespace_gets_none() -> Result<()> {
    let scene = Scene::new("functions-cluster").await?;
    let controller = || Controller::of::<TestResource>().namespaces([&scene.namespace]);
    let owned = controller().workflow((zone,)).build().expect_err("nothing in a namespace can own it");
    assert!(owned.to_string().contains("node `zone` is a `Namespace`"), "{owned}");

    let zones = node(zone).without_owner().ready_when_applied();
    let operator = scene.start(controller().workflow((zones,))).await?;
    let name = format!("{}-zone", scene.namespace);
    scene.create(&scene.namespace, "").await?;
    let written = done(&operator.settled().await?);
    assert!(written.contains(&format!("PATCH namespaces/{name} -> 201")), "{written:?}");
    scene.delete(&scene.namespace).await?;
    scene.until_gone(&scene.namespace).await?;
    let written = done(&operator.settled().await?);
    assert!(written.contains(&format!("DELETE namespaces/{name} -> 200")), "{written:?}");
    Ok(())
}
