//! Two StatefulSets and two Services with dependencies between them become ready in order: a node that depends on a set
//! is created when the set is ready, and not before.

use integration_tests::prelude::*;
use k8s_openapi::api::apps::v1::StatefulSet;
use operator_core::Wire as _;

fn set(primary: &TestResource, name: &str) -> StatefulSet {
    let name = format!("{}-{name}", primary.name_any());
    let set = json!({
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
    });
    integration_tests::from_json(&set).expect("a set")
}

fn service(primary: &TestResource, name: &str) -> Service {
    let name = format!("{}-{name}", primary.name_any());
    let service = json!({
        "metadata": { "name": name, "namespace": primary.namespace() },
        "spec": { "selector": { "app": name }, "ports": [{ "port": 80 }] },
    });
    integration_tests::from_json(&service).expect("a service")
}

fn first(primary: &TestResource) -> StatefulSet {
    set(primary, "first")
}

fn first_service(primary: &TestResource) -> Service {
    service(primary, "first")
}

fn second(primary: &TestResource) -> StatefulSet {
    set(primary, "second")
}

fn second_service(primary: &TestResource) -> Service {
    service(primary, "second")
}

#[operator_test]
async fn everything_gets_ready_in_order() -> Result<()> {
    let scene = Scene::with_workloads("complex-workflow").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let workflow = Workflow::builder()
        .nodes((
            first,
            first_service.after(first),
            second.after(first_service),
            second_service.after(second).after(first),
        ))
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
        format!("first_service: {waits}"),
        format!("second: {waits}"),
        format!("second_service: {waits}"),
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
