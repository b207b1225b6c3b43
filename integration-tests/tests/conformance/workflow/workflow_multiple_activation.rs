//! A node that is deactivated takes its informer with it: what changes then causes no run. Activated again it finds what
//! is there. Primaries that answer differently at the same time don't disturb each other.

use anyhow::Result;
use integration_tests::{Child, Outcomes, Scene, Script, TestResource, looking_on, value_of};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use operator_core::{
    Controller, Workflow,
    testing::{TestOperator, operator_test},
};
use serde_json::json;

const INACTIVE: &str = "child: inactive: its condition is not met";

async fn start() -> Result<(Scene, TestOperator, Script, Outcomes)> {
    let scene = Scene::new("workflow-multiple-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let active = |primary: &TestResource, _: &_| primary.spec.value.starts_with("active");
    let workflow = Workflow::builder().node(Child("child").node().active_when(active)).build()?;
    let controller = Controller::builder(script.clone()).workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    Ok((scene, operator, script, outcomes))
}

async fn touch(scene: &Scene, map: &str, value: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "data": { "foreign": value } }));
    scene.api::<ConfigMap>().patch(map, &PatchParams::default(), &patch).await?;
    Ok(())
}

async fn set(scene: &Scene, name: &str, value: &str) -> Result<()> {
    scene.patch(name, json!({ "spec": { "value": value } })).await?;
    Ok(())
}

#[operator_test]
async fn deactivated_and_activated_again() -> Result<()> {
    let (scene, operator, script, outcomes) = start().await?;
    scene.create("one", "active").await?;
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["child: created"]);
    let before = script.runs.count();
    touch(&scene, "one-child", "while active").await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), before + 1, "it is watched");

    set(&scene, "one", "passive").await?;
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), [INACTIVE]);
    touch(&scene, "one-child", "while inactive").await?;
    let unseen = operator.settled().await?;
    assert!(unseen.runs.is_empty(), "its informer is gone: {:?}", unseen.runs);

    set(&scene, "one", "active again").await?;
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["child: updated"]);
    let map = scene.api::<ConfigMap>().get("one-child").await?;
    assert_eq!(value_of(&map), Some("active again"));
    assert_eq!(map.data.unwrap_or_default()["foreign"], "while inactive", "nothing is lost");
    Ok(())
}

#[operator_test]
async fn opposite_answers_at_the_same_time() -> Result<()> {
    const PRIMARIES: usize = 10;
    let (scene, operator, _, outcomes) = start().await?;
    let names: Vec<String> = (0..PRIMARIES).map(|n| format!("p{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        scene.create(name, if n % 2 == 0 { "active" } else { "passive" }).await?;
    }
    operator.settled().await?;
    for (n, name) in names.iter().enumerate() {
        let expected = if n % 2 == 0 { "child: created" } else { INACTIVE };
        assert_eq!(outcomes.lines(name), [expected], "{name}");
    }
    // All turn over; the source is needed all the while, or is stopped and started again.
    for (n, name) in names.iter().enumerate() {
        set(&scene, name, if n % 2 == 0 { "passive" } else { "active" }).await?;
    }
    operator.settled().await?;
    for (n, name) in names.iter().enumerate() {
        let expected = if n % 2 == 0 { INACTIVE } else { "child: created" };
        assert_eq!(outcomes.lines(name), [expected], "{name}");
    }
    touch(&scene, "p0-child", "of an inactive one").await?;
    touch(&scene, "p1-child", "of an active one").await?;
    let woken = operator.settled().await?;
    assert_eq!(woken.runs, [(scene.key("p1"), 1)].into());
    Ok(())
}
