//! The examples of operator-component-framework, as they are written here.

use integration_tests::prelude::*;
use operator_component::{Component, component};
use operator_core::{Wire as _, dependent::Read};

use super::stand::{DISABLED, HEALTHY, SUSPENDED, Stage, deployment, is_up, map, says};

fn service(stand: &Stand, name: &str) -> Service {
    from_json(&json!({
        "metadata": { "name": name, "namespace": stand.namespace() },
        "spec": { "selector": { "app": name }, "ports": [{ "port": 80 }] }
    }))
    .expect("a Service")
}

fn store(stand: &Stand) -> ConfigMap {
    map(stand, "store")
}

fn memory(stand: &Stand) -> ConfigMap {
    map(stand, "memory")
}

fn database() -> Component<Stand> {
    component("database", (store.ready(is_up),))
}

fn cache() -> Component<Stand> {
    component("cache", (memory.ready(is_up),))
}

fn has_web(stand: &Stand) -> bool {
    says(stand, "web")
}

fn is_suspended(stand: &Stand) -> bool {
    says(stand, "suspended")
}

fn server(stand: &Stand) -> Deployment {
    deployment(stand, "server")
}

// ANCHOR: main
/// Only read: the health of what somebody else has made counts.
fn settings(_: &Stand) -> Read<ConfigMap> {
    Read::named("settings")
}

/// No longer wanted, unless the spec asks for it.
fn old_service(stand: &Stand) -> Option<Service> {
    says(stand, "old").then(|| service(stand, "old"))
}

fn web_interface() -> Component<Stand> {
    component("web-interface", (server, settings, old_service))
        .condition("WebInterfaceReady")
        .only_if(has_web)
        .starts_after(&database())
        .suspended_if(is_suspended)
        .grace(Duration::from_secs(300))
}
// ANCHOR_END: main

#[operator_test]
async fn a_web_interface_with_a_gate_a_prerequisite_and_what_it_reads_and_no_longer_wants() -> Result<()> {
    let nodes = (database(), web_interface());
    let stage = Stage::of("component-web", nodes).await?;
    let told = async || stage.told("WebInterfaceReady").await;
    stage.say("web old").await?;
    assert!(told().await?.starts_with("False PrerequisiteNotMet "), "{}", told().await?);
    stage.set_up("store", true).await?;
    eventually("the absent settings to be told", async || {
        Ok(told().await?.starts_with("False Blocked settings: ").then_some(()))
    })
    .await?;
    let (maps, services) = (stage.scene.api::<ConfigMap>(), stage.scene.api::<Service>());
    let settings = from_json::<ConfigMap>(&json!({ "metadata": { "name": "settings" } }))?;
    maps.create(&PostParams::default(), &settings).await?;
    stage.until("WebInterfaceReady", HEALTHY).await?;
    assert!(services.get_opt("old").await?.is_some());
    stage.say("web").await?;
    assert!(services.get_opt("old").await?.is_none());
    stage.until("WebInterfaceReady", HEALTHY).await?;
    stage.say("web suspended").await?;
    stage.until("WebInterfaceReady", SUSPENDED).await?;
    assert_eq!(stage.replicas("server").await?, Some(0));
    // A gate that is off goes before suspension.
    stage.say("suspended").await?;
    stage.until("WebInterfaceReady", DISABLED).await?;
    assert_eq!(stage.replicas("server").await?, None);
    assert!(maps.get_opt("settings").await?.is_some(), "it was only read");
    assert_eq!(stage.told("DatabaseReady").await?, HEALTHY);
    Ok(())
}

fn api(stand: &Stand) -> ConfigMap {
    map(stand, "api")
}

fn jaeger(stand: &Stand) -> ConfigMap {
    map(stand, "jaeger")
}

#[operator_test]
async fn an_api_server_with_two_prerequisites_and_a_node_of_a_feature() -> Result<()> {
    let traced = jaeger.only_if(|stand: &Stand| says(stand, "traced"));
    let api = component("api-server", (api, traced)).starts_after(&database()).starts_after(&cache());
    let nodes = (database(), cache(), api);
    let stage = Stage::of("component-api", nodes).await?;
    let told = async || stage.told("ApiServerReady").await;
    stage.say("1").await?;
    assert!(
        told().await?.contains("\"DatabaseReady\" to become True (currently False: "),
        "{}",
        told().await?
    );
    stage.set_up("store", true).await?;
    assert!(told().await?.contains("\"CacheReady\" to become True (currently False: "), "{}", told().await?);
    stage.set_up("memory", true).await?;
    assert_eq!(told().await?, HEALTHY);
    let maps = stage.scene.api::<ConfigMap>();
    for (value, is_traced) in [("1 traced", true), ("2", false)] {
        stage.say(value).await?;
        assert_eq!((maps.get_opt("jaeger").await?.is_some(), told().await?.as_str()), (is_traced, HEALTHY));
    }
    Ok(())
}
