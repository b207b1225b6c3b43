//! Objects that were stored as they are.

use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams},
    discovery::{ApiResource, Scope},
};

use super::{super::Controllers, *};
use crate::error::Error;

fn page_type() -> ApiResource {
    ApiResource {
        group: "ex.com".into(),
        version: "v1".into(),
        api_version: "ex.com/v1".into(),
        kind: "Page".into(),
        plural: "pages".into(),
    }
}

fn ending() -> Value {
    json!({
        "apiVersion": "ex.com/v1", "kind": "Page",
        "metadata": {
            "name": "a", "namespace": "elsewhere", "uid": "u-1", "resourceVersion": "5000", "generation": 7,
            "creationTimestamp": "2020-01-01T00:00:00Z", "deletionTimestamp": "2020-01-02T00:00:00Z",
            "finalizers": ["ex.com/keep"],
            "managedFields": [{
                "manager": "me", "operation": "Apply", "apiVersion": "ex.com/v1", "time": "2020-01-01T00:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { "f:a": {} } },
            }],
        },
        "spec": { "a": 1, "b": { "anything": [1, "two"] } },
        "status": { "ready": true },
    })
}

#[tokio::test]
async fn an_object_is_stored_as_it_is_and_then_written_to_as_any_other() {
    let server = InProcessServer::with_controllers(still, Controllers::Off);
    server.serve(&page_type(), &Scope::Namespaced);
    let stored = server.store(&ending()).expect("it is stored");
    assert_eq!(*stored, ending());

    let pages = Api::<DynamicObject>::namespaced_with(server.client(), "elsewhere", &page_type());
    let read = pages.get("a").await.expect("it is there");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), ending());

    let apply = |manager: &str| PatchParams::apply(manager);
    let body =
        json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "a" }, "spec": { "a": 2 } });
    let conflict = pages.patch("a", &apply("you"), &Patch::Apply(&body)).await;
    assert!(
        matches!(conflict, Err(kube::Error::Api(status)) if status.code == 409),
        "who owns what is known"
    );
    let changed = pages.patch("a", &apply("me"), &Patch::Apply(&body)).await.expect("it is ours");
    assert_eq!(
        (changed.metadata.resource_version.as_deref(), changed.metadata.generation),
        (Some("5001"), Some(8))
    );
    assert_eq!((&changed.data["spec"]["a"], &changed.data["spec"]["b"]), (&json!(2), &ending()["spec"]["b"]));
    let status = json!({ "apiVersion": "ex.com/v1", "kind": "Page", "status": { "ready": false } });
    let changed =
        pages.patch_status("a", &apply("me").force(), &Patch::Apply(&status)).await.expect("a status");
    assert_eq!((&changed.data["status"]["ready"], changed.metadata.generation), (&json!(false), Some(8)));
    let freed = json!({ "metadata": { "finalizers": null } });
    pages.patch("a", &PatchParams::default(), &Patch::Merge(&freed)).await.expect("nothing keeps it");
    assert!(pages.get_opt("a").await.expect("an answer").is_none());
}

#[tokio::test]
async fn a_stored_object_gets_only_its_uid_and_version_and_no_controller_sees_it() {
    let scene = Scene::new();
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "a", "namespace": "elsewhere",
            "ownerReferences": [{ "apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone" }],
        },
    });
    let stored = scene.server.store(&map).expect("it is stored");
    let mut expected = map.clone();
    for field in ["uid", "resourceVersion"] {
        assert!(stored["metadata"][field].is_string());
        expected["metadata"][field] = stored["metadata"][field].clone();
    }
    assert_eq!(*stored, expected);
    assert_eq!(scene.get("/api/v1/namespaces/elsewhere/configmaps/a").await, (200, expected));
}

#[test]
fn what_has_no_place_in_the_store_is_refused() {
    let server = InProcessServer::new();
    let why = |object: Value| match server.store(&object) {
        Err(Error::NotStored { why, .. }) => why,
        other => panic!("it is refused: {other:?}"),
    };
    assert_eq!(why(ending()), "its kind isn't served");
    server.serve(&page_type(), &Scope::Cluster);
    assert_eq!(why(ending()), "it has a namespace, and objects of its kind have none");
    assert_eq!(
        why(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a" } })),
        "it has no namespace"
    );
    assert_eq!(why(json!({ "apiVersion": "v1", "kind": "Pod" })), "it has no name");
}

#[tokio::test]
async fn a_definition_takes_the_place_of_a_kind_that_is_served_without_one() {
    let scene = Scene::new();
    scene.server.serve(&page_type(), &Scope::Namespaced);
    assert_eq!(scene.get(PAGES).await.0, 200);
    assert_eq!(scene.post(PAGES, page("any", "")).await.0, 201);
    assert_eq!(scene.post(CRDS, pages()).await.0, 201);
    let mut wrong = page("b", "");
    wrong["spec"] = json!({});
    assert_eq!(scene.post(PAGES, wrong).await.0, 422);
}

#[tokio::test]
async fn an_object_that_somebody_has_applied_can_be_taken_away_and_so_can_its_kind() {
    let server = InProcessServer::with_controllers(still, Controllers::Off);
    server.serve(&page_type(), &Scope::Namespaced);
    let page = json!({
        "apiVersion": "ex.com/v1", "kind": "Page",
        "metadata": { "name": "a", "namespace": "elsewhere", "finalizers": ["ex.com/keep"] },
        "spec": { "a": [1] }, "status": { "ready": true },
    });
    let stored = server.store_as("me", &page).expect("it is stored");
    assert_eq!(stored["metadata"]["generation"], 1);
    assert!(stored["metadata"]["creationTimestamp"].is_string());
    let entries = stored["metadata"]["managedFields"].as_array().expect("who owns what");
    assert_eq!(entries.len(), 1);
    assert_eq!((&entries[0]["manager"], &entries[0]["operation"]), (&json!("me"), &json!("Apply")));
    assert_eq!(entries[0]["fieldsV1"]["f:spec"], json!({ ".": {}, "f:a": {} }));
    assert!(entries[0]["fieldsV1"]["f:status"].is_null(), "it is written elsewhere");
    assert_eq!(*server.store_as("you", &*stored).expect("it is stored"), *stored, "nothing is missing");

    let taken = server.take("ex.com", "pages", Some("elsewhere"), "a").expect("it was there");
    assert_eq!(taken["spec"], page["spec"]);
    assert!(server.take("ex.com", "pages", Some("elsewhere"), "a").is_none());
    let pages = Api::<DynamicObject>::namespaced_with(server.client(), "elsewhere", &page_type());
    assert!(pages.get_opt("a").await.expect("an answer").is_none());
    server.withdraw(&page_type());
    let refused = pages.list(&kube::api::ListParams::default()).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 404), "it isn't served");
}
