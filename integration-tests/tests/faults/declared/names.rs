//! Default names: each fits its kind, and no two are equal.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::{CronJob, Job},
};
use operator_core::prelude::*;

use super::{assert_ready, telling, told};
use crate::simulated::{pass, scene, under};

fn admin(_: &TestResource) -> ConfigMap {
    ConfigMap::default()
}

fn web_admin(_: &TestResource) -> ConfigMap {
    ConfigMap::default()
}

/// Two primaries want this one.
fn shared(_: &TestResource) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some("shared".to_owned());
    map
}

#[tokio::test(start_paused = true)]
async fn two_primaries_whose_default_names_meet() -> Result<()> {
    let scene = scene().await?;
    let controller = Controller::of::<TestResource>().workflow((admin, web_admin)).status(telling);
    let _operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    for name in ["shop", "shop-web"] {
        scene.create(name, "").await?;
    }
    pass(300).await;
    let maps = scene.api::<ConfigMap>().list(&ListParams::default()).await?.items;
    let names: Vec<_> =
        maps.iter().map(ResourceExt::name_any).filter(|name| name.starts_with("shop")).collect();
    ensure!(names.len() == 4, "two nodes want one name: {names:?}");
    for name in ["shop", "shop-web"] {
        assert_ready(&scene, name).await?;
    }
    Ok(())
}

/// The controller of the other primary would take the object back in its next run.
#[tokio::test(start_paused = true)]
async fn nobody_is_advised_to_take_what_another_primary_of_the_controller_wants() -> Result<()> {
    let scene = scene().await?;
    let controller = Controller::of::<TestResource>().workflow((shared,)).status(telling);
    let _operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    for name in ["one", "two"] {
        scene.create(name, "").await?;
        pass(60).await;
    }
    let told = told(&scene, "two").await?.join("; ");
    ensure!(told.contains("give one of the two another name") && !told.contains("adopt"), "{told}");
    Ok(())
}

fn pod() -> Value {
    json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "restartPolicy": "Never", "containers": [{ "name": "c", "image": "i:1" }] } })
}

fn nightly(_: &TestResource) -> Result<CronJob> {
    Ok(serde_json::from_value(json!({
        "spec": { "schedule": "0 1 * * *", "jobTemplate": { "spec": { "template": pod() } } }
    }))?)
}

/// Each of its pods has its name and a number as its host name.
fn indexed(_: &TestResource) -> Result<Job> {
    Ok(serde_json::from_value(json!({
        "spec": { "suspend": true, "completionMode": "Indexed", "completions": 1_000_000, "parallelism": 1, "template": pod() }
    }))?)
}

/// Each of its pods has its name and a hash of ten digits as a label.
fn database(_: &TestResource) -> Result<StatefulSet> {
    let mut template = pod();
    template["spec"]["restartPolicy"] = "Always".into();
    Ok(serde_json::from_value(json!({
        "spec": { "serviceName": "x", "selector": { "matchLabels": { "a": "b" } }, "template": template }
    }))?)
}

fn front(_: &TestResource) -> Result<Service> {
    Ok(serde_json::from_value(json!({ "spec": { "ports": [{ "port": 80 }] } }))?)
}

#[tokio::test(start_paused = true)]
async fn each_kind_gets_a_name_that_it_can_have() -> Result<()> {
    let scene = scene().await?;
    let nodes = (
        nightly.ready_when_applied(),
        indexed.ready_when_applied(),
        database.ready_when_applied(),
        front.ready_when_applied(),
        admin,
    );
    let controller = Controller::of::<TestResource>().workflow(nodes).status(telling);
    let _operator = under(&Faults::none(), &scene, controller.namespaces([&scene.namespace])).await?;
    let long = "a".repeat(50);
    let dots = ["a-name"; 20].join(".");
    let names = ["one", "1.2.3", &long, "a-long-name-of-a-primary-that-is-still-shorter-than-sixty", &dots];
    for name in names {
        scene.create(name, "").await?;
    }
    pass(60).await;
    for name in names {
        assert_ready(&scene, name).await?;
    }
    let sets = scene.api::<StatefulSet>().list(&ListParams::default()).await?.items;
    ensure!(sets.len() == names.len() && sets.iter().all(|set| set.name_any().len() <= 52), "{sets:#?}");
    Ok(())
}
