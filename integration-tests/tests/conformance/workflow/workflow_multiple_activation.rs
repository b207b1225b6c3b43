//! A deactivated node stops its informer: changes then cause no run. Activated again, it finds what
//! exists. Many primaries follow one switch. An inactive node's object stays when its primary is deleted.

use integration_tests::prelude::*;
use operator_core::{Node, One};

const INACTIVE: &str = "child: inactive: its condition is not met";

async fn start(active: &Switch) -> Result<(Scene, TestOperator, Script, Outcomes)> {
    start_with(Child("child").node(), active).await
}

async fn start_with(
    child: Node<TestResource, One<ConfigMap>>,
    active: &Switch,
) -> Result<(Scene, TestOperator, Script, Outcomes)> {
    let scene = Scene::new("workflow-multiple-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let child = child.needs(active.clone());
    let workflow = Workflow::builder().nodes((child,)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    Ok((scene, operator, script, outcomes))
}

async fn touch(scene: &Scene, map: &str, value: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "data": { "foreign": value } }));
    scene.api::<ConfigMap>().patch(map, &PatchParams::default(), &patch).await?;
    Ok(())
}

#[operator_test]
async fn deactivated_and_activated_again() -> Result<()> {
    let active = Switch::on();
    let (scene, operator, script, outcomes) = start(&active).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["child: created"]);
    let before = script.runs.count();
    touch(&scene, "one-child", "while active").await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), before + 1, "it is watched");

    active.turn(false);
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), [INACTIVE], "the switch wakes");
    touch(&scene, "one-child", "while inactive").await?;
    let unseen = operator.settled().await?;
    assert!(unseen.runs.is_empty(), "its informer is gone: {:?}", unseen.runs);
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    operator.settled().await?;
    let map = scene.api::<ConfigMap>().get("one-child").await?;
    assert_eq!(value_of(&map), Some("first"), "what is inactive is left alone");

    active.turn(true);
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["child: updated"]);
    let map = scene.api::<ConfigMap>().get("one-child").await?;
    assert_eq!(value_of(&map), Some("second"));
    assert_eq!(map.data.unwrap_or_default()["foreign"], "while inactive", "nothing is lost");
    Ok(())
}

#[operator_test]
async fn many_primaries_at_the_same_time() -> Result<()> {
    const PRIMARIES: usize = 10;
    let active = Switch::on();
    let (scene, operator, _, outcomes) = start(&active).await?;
    let names: Vec<String> = (0..PRIMARIES).map(|n| format!("p{n}")).collect();
    let is_so = |expected: &str| {
        for name in &names {
            assert_eq!(outcomes.lines(name), [expected], "{name}");
        }
    };
    for name in &names {
        scene.create(name, "value").await?;
    }
    operator.settled().await?;
    is_so("child: created");
    active.turn(false);
    operator.settled().await?;
    is_so(INACTIVE);
    touch(&scene, "p0-child", "of an inactive one").await?;
    let unseen = operator.settled().await?;
    assert!(unseen.runs.is_empty(), "the informer of all is gone: {:?}", unseen.runs);
    active.turn(true);
    operator.settled().await?;
    is_so("child: matched");
    touch(&scene, "p1-child", "of an active one").await?;
    let woken = operator.settled().await?;
    assert_eq!(woken.runs, [(scene.key("p1"), 1)].into());
    Ok(())
}

#[operator_test]
async fn a_primary_that_goes_while_its_node_is_inactive_leaves_the_map() -> Result<()> {
    let active = Switch::on();
    // No garbage collector would take it: it is there as long as the operator lets it be.
    let (scene, operator, ..) = start_with(Child("child").deleted_node(), &active).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    active.turn(false);
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let written = operator.settled().await?.written();
    assert_eq!(written, ["PATCH testresources/one -> 200"], "the finalizer, and nothing else");
    let map = scene.api::<ConfigMap>().get("one-child").await?;
    assert_eq!(value_of(&map), Some("value"));
    Ok(())
}
