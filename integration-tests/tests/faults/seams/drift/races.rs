//! Others write at the very moment at which something is put back: the new state is judged anew.

use futures::FutureExt;
use integration_tests::prelude::*;

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
    assert_eq!(ports(&scene).await?, said("http:80"));
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

/// The process ended between the patch and the fold: we own the patched fields twice, and an apply alone can't remove them.
#[operator_test(real = "a control plane")]
async fn what_an_end_between_patch_and_fold_has_left_is_put_back_as_well() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, _) = started(&scene, wanted("web", service), "http:80").await?;
    operator.stop().await;
    let api = scene.api::<Service>();
    let applied = api.get("one-web").await?;
    let port = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    edit::<Service>(&scene, port).await?;
    let field_manager = applied.managed_fields().first().and_then(|entry| entry.manager.clone());
    let ours = json!([{ "op": "replace", "path": "/spec/ports/0", "value": { "name": "http", "port": 80 } }]);
    let ours = Patch::<Service>::Json(serde_json::from_value(ours)?);
    api.patch("one-web", &PatchParams { field_manager, ..PatchParams::default() }, &ours).await?;
    let workflow = workflow_of_one(wanted("web", service))?;
    let operator = scene.start_through(made.hook(), scene.managed(&Script::idle(), &workflow)).await?;
    assert_eq!(requests(&operator, &made).await?, ["apply 200"]);
    scene.set("one", "http:8080").await?;
    assert_eq!(requests(&operator, &made).await?, super::PUT_BACK);
    assert_eq!(ports(&scene).await?, said("http:8080"));
    scene.set("one", "http:80").await?;
    assert_eq!(requests(&operator, &made).await?, ["apply 200"]);
    Ok(())
}
