//! Two nodes of one type are active, each by its own condition, in any combination; they share an event source.

use integration_tests::prelude::*;

async fn values(scene: &Scene) -> Result<Vec<String>> {
    let mut values = Vec::new();
    for name in ["one-left", "one-right"] {
        let map = scene.api::<ConfigMap>().get_opt(name).await?;
        values.push(map.as_ref().and_then(value_of).unwrap_or("nothing").to_owned());
    }
    Ok(values)
}

#[operator_test]
async fn each_is_active_by_its_own_condition() -> Result<()> {
    let scene = Scene::new("multiple-dependent-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let (left, right) = (Switch::off(), Switch::off());
    let workflow = Workflow::builder()
        .nodes((Child("left").node().needs(left.clone()), Child("right").node().needs(right.clone())))
        .build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    // The nodes that the value names are active. What goes off does so before the change, and what comes on after it.
    let set = async |value: &str| {
        let named = [(&left, value.contains("left")), (&right, value.contains("right"))];
        named.iter().filter(|(_, on)| !on).for_each(|(switch, _)| switch.turn(false));
        operator.settled().await?;
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        operator.settled().await?;
        named.iter().filter(|(_, on)| *on).for_each(|(switch, _)| switch.turn(true));
        operator.settled().await?;
        values(&scene).await
    };

    scene.create("one", "neither").await?;
    operator.settled().await?;
    assert_eq!(values(&scene).await?, ["nothing", "nothing"]);
    assert_eq!(set("left").await?, ["left", "nothing"]);
    assert_eq!(set("left, right").await?, ["left, right", "left, right"]);
    assert_eq!(set("right").await?, ["left, right", "right"], "what is inactive is left alone");
    assert_eq!(outcomes.lines("one"), ["left: inactive: its condition is not met", "right: updated"]);
    assert_eq!(set("neither").await?, ["left, right", "right"]);
    assert_eq!(set("left").await?, ["left", "right"], "found again, and not created twice");
    assert_eq!(outcomes.lines("one"), ["left: updated", "right: inactive: its condition is not met"]);
    Ok(())
}
