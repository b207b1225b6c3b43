//! A node of a kind that the cluster doesn't have, an OpenShift Route, is inactive; the rest is reconciled.

use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use operator_core::{
    ResourceType, Verdict, Wire as _,
    workflow::{
        Activation, Cluster,
        conditions::{CrdPresent, served_kind},
    },
};

fn route() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("route.openshift.io", "v1", "Route"))
}

/// Met where the cluster serves no config maps.
struct NotServed;

impl Activation for NotServed {
    async fn check(&self, cluster: &Cluster<'_>) -> Result<Verdict, BoxError> {
        let served = cluster.serves(&ResourceType::of::<ConfigMap>()).await?;
        Ok(Verdict::when(!served, "a condition is met that must not be"))
    }
}

fn served(primary: &TestResource) -> DynamicObject {
    let spec = json!({ "spec": { "to": { "kind": "Service", "name": primary.name_any() } } });
    DynamicObject::new(&primary.name_any(), &route()).data(spec)
}

fn present(primary: &TestResource) -> DynamicObject {
    served(primary)
}

#[operator_test]
async fn what_the_cluster_does_not_know_is_left_out() -> Result<()> {
    let scene = Scene::new("workflow-activation").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let workflow = Workflow::builder()
        .nodes((
            served.kind(route()).needs(served_kind(route())),
            present.kind(route()).needs(CrdPresent::named("routes.route.openshift.io")),
            Child("child").node().needs(served_kind(("v1", "ConfigMap"))),
            Child("not-served").node().needs(NotServed),
        ))
        .build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let created = operator.settled().await?;
    assert_eq!(created.written(), ["PATCH configmaps/one-child -> 201"]);
    let expected = [
        "served: inactive: the cluster serves no route.openshift.io/v1 Route",
        "present: inactive: CRD routes.route.openshift.io is not installed",
        "child: created",
        "not-served: inactive: a condition is met that must not be",
    ];
    assert_eq!(outcomes.lines("one"), expected);
    assert!(operator.unhealthy_sources().await.is_empty(), "what doesn't run is not unhealthy");
    Ok(())
}
