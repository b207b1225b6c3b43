//! Finalizers, preconditions, namespaces.

use super::*;
use crate::in_process::Controllers;

#[tokio::test]
async fn a_finalizer_keeps_an_object_until_it_is_removed() {
    let scene = Scene::new();
    scene.post(MAPS, json!({ "metadata": { "name": "f", "finalizers": ["x.com/f"] } })).await;
    let path = format!("{MAPS}/f");
    let (code, marked) = scene.delete(&path, Value::Null).await;
    assert_eq!(code, 200);
    assert_eq!(marked["metadata"]["deletionTimestamp"], "2023-11-14T22:13:20Z");
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(
        scene.delete(&path, Value::Null).await,
        (200, marked.clone()),
        "a second time changes nothing"
    );

    let finalizers = |list: Value| scene.patch(&path, MERGE, json!({ "metadata": { "finalizers": list } }));
    assert_eq!(
        said(finalizers(json!(["x.com/h", "x.com/f", "x.com/g"])).await),
        "422 Invalid ConfigMap \"f\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the \
         object is being deleted, found new finalizers []string{\"x.com/g\", \"x.com/h\"}"
    );
    let (code, last) = finalizers(Value::Null).await;
    assert_eq!((code, &last["metadata"]["resourceVersion"]), (200, &marked["metadata"]["resourceVersion"]));
    assert_eq!(scene.get(&path).await.0, 404);
}

#[tokio::test]
async fn preconditions_are_checked() {
    let scene = Scene::new();
    let (_, made) = scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await;
    let path = format!("{MAPS}/a");
    let uid = made["metadata"]["uid"].as_str().expect("a uid");
    assert_eq!(
        said(scene.delete(&path, json!({ "preconditions": { "uid": "1" } })).await),
        format!(
            "409 Conflict Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (1) does not match \
             the UID in record ({uid}). The object might have been deleted and then recreated"
        )
    );
    let right =
        json!({ "preconditions": { "uid": uid, "resourceVersion": made["metadata"]["resourceVersion"] } });
    assert_eq!(scene.delete(&path, right).await.0, 200);
}

#[tokio::test]
async fn a_collection_is_deleted_by_its_labels() {
    let scene = Scene::new();
    for (name, label) in [("a", "1"), ("b", "2"), ("c", "1")] {
        scene.post(MAPS, json!({ "metadata": { "name": name, "labels": { "l": label } } })).await;
    }
    let (code, list) = scene.delete(&format!("{MAPS}?labelSelector=l%3D1"), Value::Null).await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(2)));
    let (_, rest) = scene.get(MAPS).await;
    assert_eq!(rest["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_namespace_ends_with_all_that_is_in_it() {
    let scene = Scene::new();
    let (code, made) = scene.post("/api/v1/namespaces", json!({ "metadata": { "name": "shop" } })).await;
    assert_eq!(
        (code, &made["status"]["phase"], &made["spec"]["finalizers"]),
        (201, &"Active".into(), &json!(["kubernetes"]))
    );
    let maps = "/api/v1/namespaces/shop/configmaps";
    scene.post(maps, json!({ "metadata": { "name": "a" } })).await;
    scene.post(maps, json!({ "metadata": { "name": "b", "finalizers": ["x.com/f"] } })).await;
    let (code, ending) = scene.delete("/api/v1/namespaces/shop", Value::Null).await;
    assert_eq!((code, &ending["status"]["phase"]), (200, &"Terminating".into()));
    assert_eq!(scene.get(&format!("{maps}/a")).await.0, 404);
    let refused = scene.post(maps, json!({ "metadata": { "name": "c" } })).await;
    assert_eq!(refused.1["details"]["causes"][0]["reason"], "NamespaceTerminating");
    assert_eq!(
        said(refused),
        "403 Forbidden configmaps \"c\" is forbidden: unable to create new content in namespace shop because it is being \
         terminated"
    );
    scene.patch(&format!("{maps}/b"), MERGE, json!({ "metadata": { "finalizers": null } })).await;
    assert_eq!(
        said(scene.get("/api/v1/namespaces/shop").await),
        "404 NotFound namespaces \"shop\" not found"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_a_node_says_that_it_ends_before_it_is_gone() {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    let server = InProcessServer::with_controllers(still, Controllers::Off);
    let scene = Scene { client: server.client(), server };
    let spec = json!({ "containers": [{ "name": "a", "image": "a:1" }] });
    let (code, made) = scene.post(PODS, json!({ "metadata": { "name": "a" }, "spec": spec })).await;
    assert_eq!(code, 201, "{made}");
    let (code, last) = scene.delete(&format!("{PODS}/a"), Value::Null).await;
    let metadata = &last["metadata"];
    assert_eq!(
        (code, &metadata["deletionGracePeriodSeconds"], &metadata["generation"]),
        (200, &0.into(), &2.into())
    );
    let version =
        |of: &Value| of["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
    let first = version(&made).expect("a version");
    assert_eq!(version(&last), Some(first + 2));
    let lines = scene.watch(&format!("{PODS}?watch=true&resourceVersion={first}&timeoutSeconds=5")).await;
    assert_eq!(lines, [format!("MODIFIED a {}", first + 1), format!("DELETED a {}", first + 2)]);
}

#[tokio::test]
async fn who_says_that_nothing_is_orphaned_is_told_that_it_takes_time() {
    let scene = Scene::new();
    scene.post(MAPS, json!({ "metadata": { "name": "f", "finalizers": ["x.com/f"] } })).await;
    scene.post(MAPS, json!({ "metadata": { "name": "g" } })).await;
    for (name, code) in [("f", 202), ("g", 200)] {
        assert_eq!(
            scene.delete(&format!("{MAPS}/{name}"), json!({ "orphanDependents": false })).await.0,
            code
        );
    }
}
