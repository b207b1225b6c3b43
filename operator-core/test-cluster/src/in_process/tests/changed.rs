//! Definitions that change under objects that are there. The fuzz compares random ones with the real server.

use super::*;

const SECOND: &str = "/apis/ex.com/v2/namespaces/default/pages";

/// Two versions: the first is stored, each knows a field that the other one doesn't, and each has a default of its own.
fn versions() -> Value {
    let version = |name: &str, storage: bool, fields: Value| {
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                "spec": { "type": "object", "properties": fields },
            }}},
        })
    };
    let text = json!({ "type": "string" });
    let mut definition = pages();
    definition["spec"]["versions"] = json!([
        version("v1", true, json!({ "a": text, "n": { "type": "integer", "default": 3 } })),
        version(
            "v2",
            false,
            json!({ "a": text, "n": { "type": "integer" }, "m": { "type": "integer", "default": 5 } })
        ),
    ]);
    definition
}

async fn with_versions() -> Scene {
    let scene = Scene::new();
    let (code, answer) = scene.post(CRDS, versions()).await;
    assert_eq!(code, 201, "{answer}");
    scene
}

fn second(spec: &Value) -> Value {
    json!({ "apiVersion": "ex.com/v2", "kind": "Page", "metadata": { "name": "a" }, "spec": spec })
}

#[tokio::test]
async fn what_the_storages_version_doesnt_know_is_lost() {
    let scene = with_versions().await;
    let stored = json!({ "a": "1", "n": 3 });
    // A dry run shows the same.
    for query in ["?dryRun=All", ""] {
        let body = second(&json!({ "a": "1", "m": 7 }));
        let (code, made) = scene.post(&format!("{SECOND}{query}"), body).await;
        assert_eq!((code, &made["apiVersion"], &made["spec"]), (201, &"ex.com/v2".into(), &stored));
    }
    assert_eq!(
        scene.get(&format!("{SECOND}/a")).await.1["spec"],
        stored,
        "and v2 adds no default of its own"
    );
    assert_eq!(scene.get(&format!("{PAGES}/a")).await.1["spec"], stored);
}

#[tokio::test]
async fn what_is_stored_is_written_anew_by_the_next_write_only() {
    let scene = with_versions().await;
    scene.post(PAGES, page("a", "1")).await;
    let (_, before) = scene.get(&format!("{PAGES}/a")).await;
    let mut definition = versions();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["b"] =
        json!({ "type": "string", "default": "x" });
    let path = format!("{CRDS}/pages.ex.com");
    let (code, answer) = scene.patch(&path, MERGE, json!({ "spec": definition["spec"] })).await;
    assert_eq!(code, 200, "{answer}");

    let version = |page: &Value| page["metadata"]["resourceVersion"].clone();
    let (_, read) = scene.get(&format!("{PAGES}/a")).await;
    assert_eq!((&read["spec"]["b"], version(&read)), (&"x".into(), version(&before)));
    let (_, written) = scene.patch(&format!("{PAGES}/a"), MERGE, json!({})).await;
    assert_ne!(version(&written), version(&before), "something else is stored now");
    let (_, again) = scene.patch(&format!("{PAGES}/a"), MERGE, json!({})).await;
    assert_eq!(version(&again), version(&written));
}

#[tokio::test]
async fn an_unknown_null_is_a_field_that_isnt_known() {
    let scene = with_versions().await;
    let strict = format!("{PAGES}?fieldValidation=Strict");
    let mut body = page("a", "1");
    body["spec"]["n"] = Value::Null;
    assert_eq!(scene.post(&strict, body.clone()).await.0, 201);
    body["spec"]["x"] = Value::Null;
    assert_eq!(
        said(scene.post(&strict, body).await),
        "400 BadRequest Page in version \"v1\" cannot be handled as a Page: strict decoding error: unknown field \"spec.x\""
    );
}

#[tokio::test]
async fn a_change_of_a_definition_says_what_cant_change_once() {
    let scene = with_versions().await;
    let refused = scene
        .patch(&format!("{CRDS}/pages.ex.com"), MERGE, json!({ "spec": { "group": "other.com" } }))
        .await;
    assert_eq!(
        said(refused),
        "422 Invalid CustomResourceDefinition.apiextensions.k8s.io \"pages.ex.com\" is invalid: spec.group: Invalid value: \
         \"other.com\": field is immutable"
    );
    let mut definition = versions();
    for version in definition["spec"]["versions"].as_array_mut().expect("versions") {
        version["selectableFields"] = json!([{ "jsonPath": ".spec.a" }]);
    }
    let refused =
        scene.patch(&format!("{CRDS}/pages.ex.com"), MERGE, json!({ "spec": definition["spec"] })).await;
    assert_eq!(
        said(refused),
        "422 Invalid CustomResourceDefinition.apiextensions.k8s.io \"pages.ex.com\" is invalid: spec.selectableFields: \
         Invalid value: \"\": may only be set when validations.schema is included"
    );
}
