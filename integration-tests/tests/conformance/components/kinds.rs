//! Kinds that others complete: Jobs, which run, and Services, whose address a cloud gives.

use integration_tests::prelude::*;
use k8s_openapi::api::batch::v1::Job;
use operator_component::component;

use super::stand::{HEALTHY, Stage, map};

fn job(stand: &Stand) -> Job {
    from_json(&json!({
        "metadata": { "name": "migration", "namespace": stand.namespace() },
        "spec": { "template": { "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "one", "image": "one" }]
        } } }
    }))
    .expect("a Job")
}

fn front(stand: &Stand) -> Service {
    from_json(&json!({
        "metadata": { "name": "front", "namespace": stand.namespace() },
        "spec": { "type": "LoadBalancer", "selector": { "app": "front" }, "ports": [{ "port": 80 }] }
    }))
    .expect("a Service")
}

fn web(stand: &Stand) -> ConfigMap {
    map(stand, "web")
}

#[operator_test]
async fn a_job_that_succeeds_and_an_address_that_a_cloud_gives_make_components_ready() -> Result<()> {
    let migration = component("migration", (job,));
    let web = component("web", (web, front)).starts_after(&migration);
    let stage = Stage::of("component-kinds", (migration, web)).await?;
    stage.scene.create("one", "1").await?;
    stage.until("MigrationReady", HEALTHY).await?;
    // Nobody gives an address here but the test.
    eventually("the Service", async || Ok(stage.scene.api::<Service>().get_opt("front").await?)).await?;
    stage.settled().await?;
    let waits = stage.told("WebReady").await?;
    assert!(waits.starts_with("False OperationPending front: "), "{waits}");
    let changed = stage.changed("MigrationReady").await?;
    let address = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } } });
    stage
        .scene
        .api::<Service>()
        .patch_status("front", &PatchParams::default(), &Patch::Merge(address))
        .await?;
    stage.until("WebReady", HEALTHY).await?;
    assert_eq!(stage.changed("MigrationReady").await?, changed);
    Ok(())
}
