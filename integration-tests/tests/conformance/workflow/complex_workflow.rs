//! Two StatefulSets and two Services with dependencies between them get ready in order: what depends on a set is made when the set is
//! ready, and not before.

use anyhow::Result;
use integration_tests::{Held, Scene, TestResource, eventually, looking_on};
use k8s_openapi::api::{apps::v1::StatefulSet, core::v1::Service};
use kube::ResourceExt;
use operator_core::{
    BoxError, Context, Desired, KubernetesDependent, Workflow,
    testing::operator_test,
    workflow::{Node, conditions::Ready},
};
use serde_json::json;

struct Set(&'static str);

impl Desired<TestResource> for Set {
    type Resource = StatefulSet;

    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<StatefulSet, BoxError> {
        let name = format!("{}-{}", primary.name_any(), self.0);
        Ok(integration_tests::from_json(&json!({
            "metadata": { "name": name, "namespace": primary.namespace() },
            "spec": {
                "replicas": 2,
                "serviceName": name,
                "selector": { "matchLabels": { "app": name } },
                "template": {
                    "metadata": { "labels": { "app": name } },
                    "spec": { "containers": [{ "name": "db", "image": "example.com/db" }] },
                },
            },
        }))?)
    }
}

struct Front(&'static str);

impl Desired<TestResource> for Front {
    type Resource = Service;

    fn desired(&self, primary: &TestResource, _: &Context<TestResource>) -> Result<Service, BoxError> {
        let name = format!("{}-{}", primary.name_any(), self.0);
        Ok(integration_tests::from_json(&json!({
            "metadata": { "name": name, "namespace": primary.namespace() },
            "spec": { "selector": { "app": name }, "ports": [{ "port": 80 }] },
        }))?)
    }
}

#[operator_test]
async fn everything_gets_ready_in_order() -> Result<()> {
    let scene = Scene::with_workloads("complex-workflow").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let set = |name| Node::new(KubernetesDependent::new(Set(name)).name(name));
    let service = |name, of| Node::new(KubernetesDependent::new(Front(of)).name(name));
    let workflow = Workflow::builder()
        .node(set("first").ready_postcondition(Ready))
        .node(service("first-service", "first").depends_on("first"))
        .node(set("second").depends_on("first-service").ready_postcondition(Ready))
        .node(service("second-service", "second").depends_on("second").depends_on("first"))
        .build()?;
    let controller = script.controller().workflow(&workflow);
    // Nobody tells the operator for now what becomes of the sets that it makes.
    let held = Held::watches_of("statefulsets");
    let operator = scene.start_through(held.hook(), controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let first = eventually("a first result", async || Ok(outcomes.last("one"))).await?;
    let waits = "waiting for first to be ready: 0/2 replicas created";
    let lines = [
        "first: created, not ready: 0/2 replicas created".to_owned(),
        format!("first-service: {waits}"),
        format!("second: {waits}"),
        format!("second-service: {waits}"),
    ];
    assert_eq!(first.to_string().lines().collect::<Vec<_>>(), lines);
    assert!(scene.api::<Service>().get_opt("one-first").await?.is_none(), "it waits for its set");
    assert!(scene.api::<StatefulSet>().get_opt("one-second").await?.is_none(), "it waits for the service");
    held.release();
    scene.until_other::<Service>("the last one", "one-second", |_| true).await?;
    let created = operator.settled().await?;
    let writes: Vec<String> = created.written().into_iter().filter(|write| write.ends_with("201")).collect();
    let expected = [
        "PATCH statefulsets/one-first -> 201",
        "PATCH services/one-first -> 201",
        "PATCH statefulsets/one-second -> 201",
        "PATCH services/one-second -> 201",
    ];
    assert_eq!(writes, expected);
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()));
    let ready = scene.api::<StatefulSet>().get("one-second").await?.status;
    assert_eq!(ready.and_then(|status| status.ready_replicas), Some(2));
    Ok(())
}
