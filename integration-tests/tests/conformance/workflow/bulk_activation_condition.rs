//! A bulk node with an activation condition is to be deleted in the very first run, because the precondition of what it
//! depends on is not met: its event source isn't there yet, which is waited for, and is no error.

use anyhow::Result;
use integration_tests::{Child, Scene, Switch, TestResource, looking_on};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use operator_core::{
    BoxError, Context, Workflow,
    dependent::bulk::{BulkDesired, BulkKubernetesDependent},
    testing::operator_test,
    workflow::Node,
};
use serde_json::json;

struct Secrets;

impl BulkDesired<TestResource> for Secrets {
    type Resource = Secret;

    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<Vec<Secret>, BoxError> {
        let secret = |n: usize| {
            let mut secret = Secret::default();
            secret.metadata.name = Some(format!("{}-{n}", primary.name_any()));
            secret.metadata.namespace = primary.namespace();
            secret
        };
        Ok((0..2).map(secret).collect())
    }
}

#[operator_test]
async fn what_was_never_there_is_deleted_without_an_error() -> Result<()> {
    let scene = Scene::new("bulk-activation-condition").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let bulk = Node::new(BulkKubernetesDependent::new(Secrets).name("bulk"));
    let workflow = Workflow::builder()
        .node(Child("parent").node().reconcile_when(|primary: &TestResource, _| primary.spec.value == "on"))
        .node(bulk.depends_on("parent").activation_condition(Switch::on()))
        .build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "off").await?;
    let first = operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["parent: deleted", "bulk: deleted"]);
    assert_eq!((first.written().len(), script.runs.count()), (0, 2), "the second run is that of the sync");

    scene.patch("one", json!({ "spec": { "value": "on" } })).await?;
    assert_eq!(operator.settled().await?.written().len(), 3, "a map and two secrets");
    scene.patch("one", json!({ "spec": { "value": "off" } })).await?;
    let deleted = operator.settled().await?.written();
    assert!(deleted.len() >= 3 && deleted.iter().all(|write| write.starts_with("DELETE")), "{deleted:?}");
    assert!(scene.api::<ConfigMap>().get_opt("one-parent").await?.is_none());
    let secrets = scene.api::<Secret>().list(&Default::default()).await?;
    assert!(secrets.items.is_empty());
    Ok(())
}
