//! What the controllers do.

use super::*;
use crate::in_process::Controllers;

fn owned(name: &str, owner: &Value) -> Value {
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    });
    json!({ "metadata": { "name": name, "ownerReferences": [reference] } })
}

async fn family(scene: &Scene) -> Value {
    let (_, owner) = scene.post(MAPS, json!({ "metadata": { "name": "owner" } })).await;
    let (_, child) = scene.post(MAPS, owned("child", &owner)).await;
    scene.post(MAPS, owned("grandchild", &child)).await;
    owner
}

async fn names(scene: &Scene) -> Vec<String> {
    let (_, list) = scene.get(MAPS).await;
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn dependents_go_after_their_owner() {
    let scene = Scene::new();
    family(&scene).await;
    scene.delete(&format!("{MAPS}/owner"), Value::Null).await;
    assert!(names(&scene).await.is_empty());
}

#[tokio::test]
async fn dependents_go_before_their_owner_in_the_foreground() {
    let scene = Scene::new();
    let owner = family(&scene).await;
    let mut held = owned("held", &owner);
    held["metadata"]["finalizers"] = json!(["x.com/f"]);
    scene.post(MAPS, held).await;
    let (code, marked) =
        scene.delete(&format!("{MAPS}/owner"), json!({ "propagationPolicy": "Foreground" })).await;
    assert_eq!((code, &marked["metadata"]["finalizers"]), (200, &json!(["foregroundDeletion"])));
    assert_eq!(names(&scene).await, ["held", "owner"]);
    scene.patch(&format!("{MAPS}/held"), MERGE, json!({ "metadata": { "finalizers": null } })).await;
    assert!(names(&scene).await.is_empty());
}

#[tokio::test]
async fn orphans_stay_without_their_reference() {
    let scene = Scene::new();
    family(&scene).await;
    scene.delete(&format!("{MAPS}/owner"), json!({ "propagationPolicy": "Orphan" })).await;
    assert_eq!(names(&scene).await, ["child", "grandchild"]);
    let (_, child) = scene.get(&format!("{MAPS}/child")).await;
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
}

#[tokio::test]
async fn an_owner_of_another_uid_is_none() {
    let scene = Scene::new();
    let (_, owner) = scene.post(MAPS, json!({ "metadata": { "name": "owner" } })).await;
    let mut stray = owned("stray", &owner);
    stray["metadata"]["ownerReferences"][0]["uid"] = "another".into();
    scene.post(MAPS, stray.clone()).await;
    assert_eq!(names(&scene).await, ["owner"]);
    stray["metadata"]["ownerReferences"][0]["controller"] = Value::Null;
    let both = json!([
        stray["metadata"]["ownerReferences"][0],
        owned("x", &owner)["metadata"]["ownerReferences"][0]
    ]);
    scene.post(MAPS, json!({ "metadata": { "name": "kept", "ownerReferences": both } })).await;
    let (_, kept) = scene.get(&format!("{MAPS}/kept")).await;
    assert_eq!(kept["metadata"]["ownerReferences"].as_array().map(Vec::len), Some(1), "{kept}");
}

#[tokio::test]
async fn controllers_work_when_they_are_told_to_or_not_at_all() {
    for (controllers, left) in [(Controllers::Off, 2), (Controllers::Stepwise, 2), (Controllers::AtOnce, 0)] {
        let server = InProcessServer::with_controllers(still, controllers);
        let scene = Scene { client: server.client(), server };
        while scene.server.step() {}
        family(&scene).await;
        scene.delete(&format!("{MAPS}/owner"), Value::Null).await;
        assert_eq!(names(&scene).await.len(), left, "{controllers:?}");
        while scene.server.step() {}
        let left = if controllers == Controllers::Off { 2 } else { 0 };
        assert_eq!(names(&scene).await.len(), left, "{controllers:?}");
        let accounts = scene.get("/api/v1/namespaces/default/serviceaccounts/default").await;
        assert_eq!(accounts.0 == 200, controllers != Controllers::Off, "{controllers:?}");
    }
}

#[tokio::test]
async fn a_deployment_becomes_ready_and_counts_its_templates() {
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    let scene = Scene::new();
    let template = json!({
        "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    let spec = json!({ "replicas": 2, "selector": { "matchLabels": { "a": "b" } }, "template": template });
    let (code, made) = scene.post(DEPLOYMENTS, json!({ "metadata": { "name": "web" }, "spec": spec })).await;
    assert_eq!((code, &made["metadata"]["generation"]), (201, &1.into()), "{made}");
    assert_eq!(made["status"]["readyReplicas"], Value::Null);
    let web = async || scene.get(&format!("{DEPLOYMENTS}/web")).await.1;
    let ready = web().await;
    assert_eq!(
        (&ready["status"]["readyReplicas"], &ready["status"]["observedGeneration"]),
        (&2.into(), &1.into())
    );
    assert_eq!(ready["status"]["conditions"][0]["type"], "Available");
    assert_eq!(ready["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert_eq!(ready["metadata"]["generation"], 1);
    let foreign = json!({ "type": "Foreign", "status": "True" });
    let patch = json!([{ "op": "add", "path": "/status/conditions/-", "value": foreign }]);
    assert_eq!(scene.patch(&format!("{DEPLOYMENTS}/web/status"), JSON_PATCH, patch).await.0, 200);
    let conditions = web().await["status"]["conditions"].clone();
    assert_eq!(conditions.as_array().map(Vec::len), Some(3), "what others say stays: {conditions}");
    let scaled = json!({ "spec": { "replicas": 3 } });
    scene.patch(&format!("{DEPLOYMENTS}/web"), MERGE, scaled).await;
    let ready = web().await;
    assert_eq!(
        (&ready["status"]["readyReplicas"], &ready["status"]["observedGeneration"]),
        (&3.into(), &2.into())
    );
    assert_eq!(ready["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    let rolled = json!({ "spec": { "template": { "metadata": { "labels": { "x": "y" } } } } });
    scene.patch(&format!("{DEPLOYMENTS}/web"), MERGE, rolled).await;
    assert_eq!(web().await["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "2");
    let version = web().await["metadata"]["resourceVersion"].clone();
    assert_eq!(web().await["metadata"]["resourceVersion"], version, "it comes to rest");
}
