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

/// An object with these owners and finalizers.
async fn make(scene: &Scene, name: &str, owners: &[&Value], finalizers: Value) -> Value {
    let mut object = json!({ "metadata": { "name": name, "finalizers": finalizers } });
    let references = owners.iter().map(|owner| owned(name, owner)["metadata"]["ownerReferences"][0].clone());
    object["metadata"]["ownerReferences"] = references.collect();
    for reference in object["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten().skip(1) {
        reference["controller"] = false.into();
    }
    scene.post(MAPS, object).await.1
}

async fn owners_of(scene: &Scene, name: &str) -> Vec<String> {
    let (_, object) = scene.get(&format!("{MAPS}/{name}")).await;
    let references = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    references.iter().map(|owner| owner["name"].as_str().expect("a name").to_owned()).collect()
}

fn foreground() -> Value {
    json!({ "propagationPolicy": "Foreground" })
}

#[tokio::test]
async fn what_ends_already_keeps_its_references() {
    let scene = Scene::new();
    let held = json!(["x.com/f"]);
    let [first, second] =
        [make(&scene, "x", &[], Value::Null).await, make(&scene, "y", &[], Value::Null).await];
    make(&scene, "ends", &[&first, &second], held.clone()).await;
    make(&scene, "stays", &[&first, &second], held).await;
    scene.delete(&format!("{MAPS}/ends"), Value::Null).await;
    scene.delete(&format!("{MAPS}/x"), foreground()).await;
    assert_eq!(owners_of(&scene, "stays").await, ["y"]);
    assert_eq!((names(&scene).await.len(), owners_of(&scene, "ends").await.len()), (4, 2), "it holds x back");
    // Its owner goes when it doesn't block that any more.
    let none = json!({ "metadata": { "ownerReferences": null } });
    scene.patch(&format!("{MAPS}/ends"), MERGE, none).await;
    assert_eq!(names(&scene).await, ["ends", "stays", "y"]);
}

#[tokio::test]
async fn who_gets_an_owner_that_waits_already_is_not_looked_at() {
    let scene = Scene::new();
    let owner = make(&scene, "owner", &[], Value::Null).await;
    make(&scene, "held", &[&owner], json!(["x.com/f"])).await;
    scene.delete(&format!("{MAPS}/owner"), foreground()).await;
    make(&scene, "late", &[&owner], Value::Null).await;
    assert_eq!(names(&scene).await, ["held", "late", "owner"]);
    scene.patch(&format!("{MAPS}/held"), MERGE, json!({ "metadata": { "finalizers": null } })).await;
    assert!(names(&scene).await.is_empty(), "it is, as soon as something happens to another one");
}

#[tokio::test]
async fn an_owner_that_cannot_be_followed_is_tried_again() {
    let scene = Scene::new();
    let owner = make(&scene, "owner", &[], Value::Null).await;
    let mut unknown = owner.clone();
    unknown["metadata"]["uid"] = "another".into();
    make(&scene, "stays", &[&owner, &unknown], Value::Null).await;
    let references = |references: Value| json!({ "metadata": { "ownerReferences": references } });
    let mut both = owned("stays", &owner)["metadata"]["ownerReferences"].clone();
    let known = both.clone();
    let strange = json!({ "apiVersion": "v1", "kind": "Nobody", "name": "n", "uid": "another" });
    both.as_array_mut().expect("references").push(strange);
    scene.patch(&format!("{MAPS}/stays"), MERGE, references(both)).await;
    scene.delete(&format!("{MAPS}/owner"), Value::Null).await;
    assert_eq!(names(&scene).await, ["stays"], "nobody knows whether that one is there");
    scene.patch(&format!("{MAPS}/stays"), MERGE, references(known)).await;
    assert!(names(&scene).await.is_empty());
}

#[tokio::test]
async fn a_circle_is_broken() {
    let scene = Scene::new();
    let first = make(&scene, "first", &[], Value::Null).await;
    let second = make(&scene, "second", &[&first], Value::Null).await;
    let references = owned("first", &second)["metadata"]["ownerReferences"].clone();
    let closed = json!({ "metadata": { "ownerReferences": references } });
    scene.patch(&format!("{MAPS}/first"), MERGE, closed).await;
    scene.delete(&format!("{MAPS}/first"), foreground()).await;
    assert!(names(&scene).await.is_empty());
}

#[tokio::test]
async fn whose_word_about_dependents_counts() {
    // The collector's, where an owner waits.
    let scene = Scene::new();
    let owner = make(&scene, "owner", &[], Value::Null).await;
    let child = make(&scene, "child", &[&owner], json!(["orphan", "x.com/f"])).await;
    make(&scene, "grandchild", &[&child], Value::Null).await;
    scene.delete(&format!("{MAPS}/owner"), foreground()).await;
    assert_eq!(names(&scene).await, ["child", "owner"]);
    // The object's own, where the owner is gone.
    let scene = Scene::new();
    let owner = make(&scene, "owner", &[], Value::Null).await;
    let child = make(&scene, "child", &[&owner], json!(["orphan"])).await;
    make(&scene, "grandchild", &[&child], Value::Null).await;
    scene.delete(&format!("{MAPS}/owner"), Value::Null).await;
    assert_eq!(names(&scene).await, ["grandchild"]);
    // That of the namespace's controller, even if the object has waited.
    let scene = Scene::new();
    let namespace = json!({ "metadata": { "name": "ends" } });
    scene.post("/api/v1/namespaces", namespace).await;
    let maps = "/api/v1/namespaces/ends/configmaps";
    let (_, owner) = scene.post(maps, json!({ "metadata": { "name": "owner" } })).await;
    let mut held = owned("held", &owner);
    held["metadata"]["finalizers"] = json!(["x.com/f"]);
    scene.post(maps, held).await;
    scene.delete(&format!("{maps}/owner"), foreground()).await;
    assert_eq!(scene.get(&format!("{maps}/owner")).await.0, 200);
    scene.delete("/api/v1/namespaces/ends", Value::Null).await;
    assert_eq!(scene.get(&format!("{maps}/owner")).await.0, 404);
    assert_eq!(scene.get(&format!("{maps}/held")).await.0, 200);
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
