//! Functions that fail, panic, or return invalid objects: each stops only the nodes that come after it.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::prelude::*;

use super::{a_map, says};

fn sound(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn failing(primary: &TestResource) -> Result<ConfigMap, std::num::ParseIntError> {
    if says(primary, "fine") {
        return Ok(a_map(primary));
    }
    "a word".parse::<u8>().map(|_| ConfigMap::default())
}

fn panicking(primary: &TestResource) -> ConfigMap {
    assert!(says(primary, "fine"), "a bug");
    a_map(primary)
}

fn nameless(primary: &TestResource) -> Vec<ConfigMap> {
    if says(primary, "fine") { Vec::new() } else { vec![a_map(primary)] }
}

fn behind(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

#[operator_test]
async fn what_fails_stops_only_what_comes_after_it() -> Result<()> {
    let scene = Scene::new("functions-failing").await?;
    let (script, _) = looking_on::<TestResource>();
    let nodes = (sound, failing, panicking, nameless, behind.after(panicking));
    let controller = script.controller().workflow(nodes);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.failures.expect("3 dependents failed: failing: invalid digit found in string; panicking: ");
    scene.create("one", "").await?;
    scene.until_other::<ConfigMap>("what is sound", "one-sound", |_| true).await?;
    scene.patch("one", serde_json::json!({ "spec": { "value": "fine" } })).await?;
    scene.until_other::<ConfigMap>("what comes after it", "one-behind", |_| true).await?;
    operator.settled().await?;
    Ok(())
}

#[operator_test]
async fn one_of_several_needs_a_name_of_its_own() -> Result<()> {
    let scene = Scene::new("functions-nameless").await?;
    let controller = Controller::of::<TestResource>().workflow((nameless,));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene
        .failures
        .expect("node `nameless` wants a ConfigMap without a complete name: each of several objects");
    scene.create("one", "").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    Ok(())
}
