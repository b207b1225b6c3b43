//! The life of a Tomcat and its webapps, under exactly the rights that `deploy/` gives, on both API servers.

use anyhow::Result;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use operator_core::testing::{Profile, TestCluster, TestOperator, operator_test};
use serde_json::json;
use tomcat::{RBAC, Tomcat, TomcatStatus, Webapp, WebappStatus};

use crate::{shop, until, url, webapp};

const ACCOUNT: &str = "system:serviceaccount:tomcat-operator:tomcat-operator";

/// The kinds exist from the start, so the garbage collector knows them at once.
async fn cluster() -> Result<TestCluster> {
    let crds = [Tomcat::crd(), Webapp::crd()];
    if let Some(cluster) = TestCluster::of_this_test() {
        cluster.install_crds(crds).await?;
        return Ok(cluster);
    }
    Ok(TestCluster::new(Profile::Full.builder().crds(crds).start().await?))
}

#[operator_test]
async fn webapps_come_and_go_on_their_tomcat() -> Result<()> {
    let cluster = cluster().await?;
    cluster.apply_files("default", [RBAC]).await?;
    // The role takes effect a moment after it was written.
    let all: Api<Webapp> = Api::all(cluster.client_as(ACCOUNT)?);
    until("the role to be effective", async || all.list(&ListParams::default()).await.ok()).await?;
    let (client, namespace) = (cluster.client()?, cluster.namespace("shop").await?);
    let builder = cluster.connect(tomcat::operator()).config(cluster.config_as(ACCOUNT, &[]));
    let operator = TestOperator::start(builder).await?;
    let tomcats: Api<Tomcat> = Api::namespaced(client.clone(), &namespace);
    let webapps: Api<Webapp> = Api::namespaced(client.clone(), &namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    let status = async |name: &str| webapps.get(name).await.ok()?.status;
    let shop_status = async || tomcats.get("shop").await.ok()?.status;
    let address = |name: &str| format!("http://shop.{namespace}/{name}");
    let is_served = async |name: &'static str| {
        let wanted = Some(address(name));
        until("a webapp to be served", async || (status(name).await?.address == wanted).then_some(())).await
    };

    // A Tomcat that exists isn't enough: it has to serve.
    webapps.create(&PostParams::default(), &webapp("early", "/early")).await?;
    tomcats.create(&PostParams::default(), &shop(0)).await?;
    until("a webapp that waits", async || {
        let status: WebappStatus = status("early").await?;
        status
            .conditions
            .iter()
            .any(|one| one.message.contains("no pod of the tomcat shop serves"))
            .then_some(())
    })
    .await?;
    assert!(maps.get_opt("early-war").await?.is_none(), "nothing is handed over before");
    let patch = |spec| Patch::Merge(json!({ "spec": spec }));
    let params = PatchParams::default();
    tomcats.patch("shop", &params, &patch(json!({ "replicas": 2 }))).await?;
    is_served("early").await?;

    // The second webapp, and a new version of the first one, roll the same pods.
    webapps.create(&PostParams::default(), &webapp("late", "/late")).await?;
    is_served("late").await?;
    webapps.patch("early", &params, &patch(json!({ "url": url("earlier") }))).await?;
    let has_both = |status: TomcatStatus| {
        let urls: Vec<_> = status.wars.values().map(|war| war.url.clone()).collect();
        (urls == [url("earlier"), url("late")] && status.ready_replicas == 2).then_some(())
    };
    until("both wars in all pods", async || has_both(shop_status().await?)).await?;

    // One webapp is deleted, and its objects with it.
    webapps.delete("early", &DeleteParams::default()).await?;
    until("one war in all pods", async || {
        let wars = shop_status().await?.wars;
        (wars.len() == 1 && wars.contains_key("/late")).then_some(())
    })
    .await?;
    let settled = operator.settled().await?;
    let refused: Vec<_> = settled.requests.iter().filter(|request| request.code == Some(403)).collect();
    assert!(refused.is_empty(), "{refused:#?}");

    tomcats.delete("shop", &DeleteParams::default()).await?;
    let services: Api<Service> = Api::namespaced(client, &namespace);
    until("the end of its children", async || {
        let left = (deployments.get_opt("shop").await.ok()?, services.get_opt("shop").await.ok()?);
        (left == (None, None)).then_some(())
    })
    .await?;
    assert_eq!(webapps.get("late").await?.name_any(), "late", "webapps belong to their users");
    operator.stop().await;
    Ok(())
}
