//! The documents as `kubectl` reads them.

use serde_json::{Value, json};

use crate::in_process::tests::Scene;

#[tokio::test]
async fn the_index_leads_to_documents() {
    let scene = Scene::with_pages().await;
    let (_, index) = scene.get("/openapi/v3").await;
    for document in ["api/v1", "apis/apps/v1", "apis/ex.com/v1"] {
        let address = index["paths"][document]["serverRelativeURL"].as_str().expect("an address");
        let (code, found) = scene.get(address).await;
        assert_eq!((code, &found["openapi"]), (200, &json!("3.0.0")), "{document}");
    }
    assert_eq!(scene.get("/openapi/v3/apis/none/v1").await.0, 404);
}

#[tokio::test]
async fn every_kind_has_a_schema_and_all_references_lead_somewhere() {
    let scene = Scene::with_pages().await;
    let (_, index) = scene.get("/openapi/v3").await;
    for document in index["paths"].as_object().expect("paths").keys() {
        let (_, found) = scene.get(&format!("/openapi/v3/{document}")).await;
        let schemas = found["components"]["schemas"].as_object().expect("schemas");
        let mut references = std::collections::BTreeSet::new();
        super::references(&found, &mut references);
        for name in references {
            assert!(schemas.contains_key(&name), "{document}: {name}");
        }
        for (path, methods) in found["paths"].as_object().expect("paths") {
            let Some(get) = methods.get("get") else { continue };
            let kind = &get["x-kubernetes-group-version-kind"];
            let is_kind = |schema: &&Value| {
                let all = schema["x-kubernetes-group-version-kind"].as_array();
                all.into_iter().flatten().any(|of| of == kind)
            };
            assert!(schemas.values().find(is_kind).is_some(), "{path}: {kind}");
        }
    }
}

#[tokio::test]
async fn a_custom_kind_s_schema_is_that_of_its_definition() {
    let scene = Scene::with_pages().await;
    let (_, found) = scene.get("/openapi/v3/apis/ex.com/v1").await;
    let page = &found["components"]["schemas"]["com.ex.v1.Page"];
    assert_eq!(page["properties"]["spec"]["properties"]["n"], json!({ "type": "integer", "default": 3 }));
    assert_eq!(
        page["properties"]["metadata"]["allOf"][0]["$ref"],
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    );
    let patch = &found["paths"]["/apis/ex.com/v1/namespaces/{namespace}/pages/{name}"]["patch"];
    let forms: Vec<_> = patch["requestBody"]["content"].as_object().expect("forms").keys().collect();
    assert_eq!(forms.len(), 3, "{forms:?}");
}

#[tokio::test]
async fn the_older_document_has_the_same_definitions() {
    let scene = Scene::with_pages().await;
    let (_, found) = scene.get("/openapi/v2").await;
    let port = &found["definitions"]["io.k8s.api.core.v1.ServicePort"]["properties"];
    assert_eq!(port["targetPort"]["$ref"], "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString");
    assert!(port["port"]["default"].is_null());
    assert_eq!(found["definitions"]["com.ex.v1.Page"]["type"], "object");
}
