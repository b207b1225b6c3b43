//! Default names of objects, and an object that is renamed.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::api::{batch::v1::CronJob, core::v1::Namespace, rbac::v1::Role};
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
    // Nothing in a namespace can own it.
    let zones = zone.ready_when_applied();
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

fn nightly(_: &TestResource) -> Result<CronJob> {
    let pod = json!({ "restartPolicy": "Never", "containers": [{ "name": "c", "image": "i:1" }] });
    Ok(serde_json::from_value(json!({
        "spec": { "schedule": "0 1 * * *", "suspend": true, "jobTemplate": { "spec": { "template": { "spec": pod } } } }
    }))?)
}

/// Ends like the name of a node.
fn web_first(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn first(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

#[operator_test]
async fn a_name_is_as_short_as_its_kind_demands_and_that_of_no_other_object() -> Result<()> {
    let scene = Scene::new("functions-names-fit").await?;
    let controller = Controller::of::<TestResource>().workflow((
        nightly.ready_when_applied(),
        first.after(nightly),
        web_first.after(first),
    ));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    for name in ["shop", "shop-web", "a-name-of-a-primary-that-has-fifty-five-letters-or-more"] {
        scene.create(name, "").await?;
    }
    let created = done(&operator.settled().await?);
    let names: BTreeSet<&str> = created.iter().filter_map(|write| write.split([' ', '/']).nth(2)).collect();
    assert!(created.len() == 9 && names.len() == 9, "{created:?}");
    let of = |beginning: &str| names.iter().filter(|name| name.starts_with(beginning)).count();
    assert_eq!(of("shop-web-first"), 2, "one of them with a hash: {names:?}");
    Ok(())
}

/// A role whose name the user chooses.
fn role(primary: &TestResource) -> Result<Role> {
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }]);
    Ok(serde_json::from_value(json!({ "metadata": { "name": primary.spec.value }, "rules": rules }))?)
}

#[operator_test]
async fn a_name_is_one_segment_of_a_path_or_nothing_is_requested() -> Result<()> {
    let scene = Scene::new("functions-names-paths").await?;
    scene.failures.expect("not a valid object name");
    let controller = Controller::of::<TestResource>().workflow((role,)).retry(GenericRetry::no_retry());
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    for (name, written) in [
        ("my role", Some("PATCH roles/my%20role -> 201")),
        ("a?b", Some("PATCH roles/a%3Fb -> 201")),
        ("system:a", Some("PATCH roles/system:a -> 201")),
        ("../configmaps/x", None),
        ("a%2Fb", None),
        ("..", None),
    ] {
        scene.create("one", name).await?;
        let requests: Vec<_> = operator.settled().await?.requests.iter().map(ToString::to_string).collect();
        assert_eq!(requests, written.into_iter().collect::<Vec<_>>(), "{name}");
        scene.delete("one").await?;
        scene.until_gone("one").await?;
        operator.settled().await?;
    }
    Ok(())
}
