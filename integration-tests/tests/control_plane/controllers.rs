//! The controllers, the scheduler and the fake node.

use std::fmt::Debug;

use integration_tests::prelude::*;
use k8s_openapi::{
    api::{
        apps::v1::ReplicaSet,
        batch::v1::Job,
        core::v1::{Namespace, Pod},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use operator_core::testing::Profile;
use serde::de::DeserializeOwned;

use crate::eventually;

const WORKLOADS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: example.com/web }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec:
  template:
    spec: { restartPolicy: Never, containers: [{ name: once, image: example.com/once }] }
";

async fn gone<K>(api: &Api<K>, name: &str)
where
    K: Resource + Clone + DeserializeOwned + Debug,
{
    eventually(&format!("{name} is gone"), || async {
        api.get_opt(name).await.unwrap().is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn workloads_come_to_their_end() {
    let cluster = TestCluster::shared_with(Profile::Full).await.unwrap();
    let namespace = cluster.namespace("workloads").await.unwrap();
    let client = cluster.client().unwrap();
    cluster.apply_yaml(&namespace, WORKLOADS).await.unwrap();

    let deployments = Api::<Deployment>::namespaced(client.clone(), &namespace);
    eventually("both replicas are ready", || async {
        let status = deployments.get("web").await.unwrap().status?;
        (status.ready_replicas == Some(2)).then_some(())
    })
    .await;
    let jobs = Api::<Job>::namespaced(client.clone(), &namespace);
    eventually("the job has succeeded", || async {
        let status = jobs.get("once").await.unwrap().status?;
        (status.succeeded == Some(1)).then_some(())
    })
    .await;

    deployments.delete("web", &DeleteParams::foreground()).await.unwrap();
    gone(&deployments, "web").await;
    assert!(
        Api::<ReplicaSet>::namespaced(client.clone(), &namespace)
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let labelled = kube::api::ListParams::default().labels("app=web");
    let pods = Api::<Pod>::namespaced(client, &namespace);
    eventually("the pods are gone", || async {
        pods.list(&labelled).await.unwrap().items.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn garbage_is_collected() {
    let cluster = TestCluster::shared().await.unwrap();
    let namespace = cluster.namespace("garbage").await.unwrap();
    let maps = Api::<ConfigMap>::namespaced(cluster.client().unwrap(), &namespace);
    let owner = maps.create(&PostParams::default(), &config_map("owner", None)).await.unwrap();
    let reference = owner.owner_ref(&()).unwrap();
    maps.create(&PostParams::default(), &config_map("owned", Some(reference))).await.unwrap();
    maps.delete("owner", &DeleteParams::default()).await.unwrap();
    gone(&maps, "owned").await;
}

#[tokio::test]
async fn a_deleted_namespace_ends() {
    let cluster = TestCluster::shared().await.unwrap();
    let namespace = cluster.namespace("ending").await.unwrap();
    let client = cluster.client().unwrap();
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    let made = maps.create(&PostParams::default(), &config_map("inside", None)).await.unwrap();
    assert_eq!(made.name_any(), "inside");
    let namespaces = Api::<Namespace>::all(client);
    namespaces.delete(&namespace, &DeleteParams::default()).await.unwrap();
    gone(&namespaces, &namespace).await;
}

fn config_map(name: &str, owner: Option<OwnerReference>) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.metadata.owner_references = owner.map(|owner| vec![owner]);
    map
}
