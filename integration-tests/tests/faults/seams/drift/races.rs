//! Somebody writes in the very moment in which something is put back: what they see then is decided anew.

use anyhow::Result;
use futures::FutureExt;
use integration_tests::wanted;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use operator_core::testing::operator_test;
use serde_json::json;

use super::{edit, edited, ports, requests, said, scene, service, started};

#[operator_test(real = "a control plane")]
async fn what_is_put_back_is_bound_to_the_version_that_was_seen() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, _) = started(&scene, wanted("web", service), "http:80").await?;
    // Ours moves to another position, and theirs is where ours was.
    let api = scene.api::<Service>();
    made.before("json patch", 1, move || {
        let (api, theirs) = (api.clone(), json!({ "name": "theirs", "port": 70 }));
        let theirs = json!([{ "op": "add", "path": "/spec/ports/0", "value": theirs }]);
        async move { edited(&api, theirs).await.map(drop) }.boxed()
    });
    let port = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    edit::<Service>(&scene, port).await?;
    let expected = [
        "apply 422",
        "get 200",
        "json patch 422",
        "apply 422",
        "get 200",
        "json patch 200",
        "json patch 200",
        "apply 200",
    ];
    assert_eq!(requests(&operator, &made).await?, expected);
    assert_eq!(ports(&scene).await?, said("theirs:70 http:80"));
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn a_fold_that_is_overtaken_is_made_from_the_live_object() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, _) = started(&scene, wanted("web", service), "http:80").await?;
    let api = scene.api::<Service>();
    made.before("json patch", 2, move || {
        let (api, note) =
            (api.clone(), json!([{ "op": "add", "path": "/metadata/annotations", "value": { "a": "b" } }]));
        async move { edited(&api, note).await.map(drop) }.boxed()
    });
    let port = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    edit::<Service>(&scene, port).await?;
    let expected = [
        "apply 422",
        "get 200",
        "json patch 200",
        "json patch 422",
        "get 200",
        "json patch 200",
        "apply 200",
    ];
    assert_eq!(requests(&operator, &made).await?, expected);
    let service = scene.api::<Service>().get("one-web").await?;
    assert_eq!(service.annotations().get("a").map(String::as_str), Some("b"));
    let operations: Vec<_> = service
        .managed_fields()
        .iter()
        .map(|entry| (entry.manager.as_deref(), entry.operation.as_deref()))
        .collect();
    assert_eq!(operations.len(), 2, "ours, applied, and that of the note: {operations:?}");
    scene.set("one", "http:8080").await?;
    assert_eq!(requests(&operator, &made).await?, ["apply 200"]);
    assert_eq!(ports(&scene).await?, said("http:8080"));
    Ok(())
}
