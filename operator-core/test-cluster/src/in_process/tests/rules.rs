//! Custom kinds with rules, patterns and a scale.

use super::*;

/// The pages, whose spec has another schema, and a scale.
fn ruled() -> Value {
    let mut definition = pages();
    let version = &mut definition["spec"]["versions"][0];
    version["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "maxLength": 9, "pattern": "^(?:[a-z]\\d)+$" },
            "n": { "type": "integer", "x-kubernetes-validations": [{ "rule": "self < 10", "message": "too much" }] },
            "fixed": { "type": "string", "maxLength": 9, "x-kubernetes-validations": [{ "rule": "self == oldSelf" }] },
        },
        "x-kubernetes-validations": [{ "rule": "has(self.a) || has(self.n)", "reason": "FieldValueRequired", "fieldPath": ".a" }],
    });
    version["subresources"]["scale"] = json!({ "specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s" });
    definition
}

fn of(spec: &Value) -> Value {
    let mut page = page("a", "a1");
    page["spec"] = spec.clone();
    page
}

#[tokio::test]
async fn rules_and_patterns_refuse_and_name_the_place() {
    let scene = Scene::new();
    let (code, made) = scene.post(CRDS, ruled()).await;
    assert_eq!(code, 201, "{made}");
    for (spec, why) in [
        (
            json!({ "a": "A1" }),
            "spec.a: Invalid value: \"A1\": spec.a in body should match '^(?:[a-z]\\d)+$'",
        ),
        (json!({ "n": 11 }), "spec.n: Invalid value: 11: too much"),
        (json!({}), "spec.a: Required value: failed rule: has(self.a) || has(self.n)"),
    ] {
        let said = said(scene.post(PAGES, of(&spec)).await);
        assert_eq!(said, format!("422 Invalid Page.ex.com \"a\" is invalid: {why}"));
    }
    assert_eq!(scene.post(PAGES, of(&json!({ "n": 3, "fixed": "x" }))).await.0, 201);
    let path = format!("{PAGES}/a");
    let changed = scene.patch(&path, MERGE, json!({ "spec": { "fixed": "y" } })).await;
    assert_eq!(
        said(changed),
        "422 Invalid Page.ex.com \"a\" is invalid: spec.fixed: Invalid value: \"y\": failed rule: self == oldSelf"
    );
    let scale = format!("{path}/scale");
    assert_eq!(scene.get(&scale).await.1["spec"]["replicas"], 3);
    assert_eq!(scene.patch(&scale, MERGE, json!({ "spec": { "replicas": 4 } })).await.0, 200);
    assert_eq!(scene.get(&path).await.1["spec"]["n"], 4);
    let above = scene.patch(&scale, MERGE, json!({ "spec": { "replicas": 40 } })).await;
    assert_eq!(said(above), "422 Invalid Page.ex.com \"a\" is invalid: spec.n: Invalid value: 40: too much");
}

#[tokio::test]
async fn what_a_new_definition_forbids_may_stay_as_it_is() {
    let scene = Scene::new();
    let mut loose = ruled();
    let spec = &mut loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    *spec = json!({ "type": "object", "properties": { "a": { "type": "string" }, "n": { "type": "integer" }, "fixed": { "type": "string" } } });
    assert_eq!(scene.post(CRDS, loose).await.0, 201);
    assert_eq!(scene.post(PAGES, of(&json!({ "a": "UP", "n": 99 }))).await.0, 201);
    let versions = json!({ "spec": { "versions": ruled()["spec"]["versions"] } });
    assert_eq!(scene.patch(&format!("{CRDS}/pages.ex.com"), MERGE, versions).await.0, 200);
    let path = format!("{PAGES}/a");
    assert_eq!(scene.patch(&path, MERGE, json!({ "spec": { "fixed": "x" } })).await.0, 200);
    let (code, changed) = scene.patch(&path, MERGE, json!({ "spec": { "n": 98 } })).await;
    assert_eq!(
        (code, &changed["details"]["causes"][0]["message"]),
        (422, &"Invalid value: 98: too much".into())
    );
}

#[tokio::test]
async fn a_rule_that_goes_on_and_on_is_ended() {
    let scene = Scene::new();
    let mut definition = ruled();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["list"] = json!({
        "type": "array", "items": { "type": "integer" },
        "x-kubernetes-validations": [{ "rule": "self.all(x, self.all(y, self.all(z, x + y + z >= 0)))" }],
    });
    let (code, made) = scene.post(CRDS, definition).await;
    assert_eq!(code, 201, "its cost isn't counted: {made}");
    let list = |length: usize| json!({ "n": 1, "list": vec![1; length] });
    assert_eq!(
        said(scene.post(PAGES, of(&list(200))).await),
        "422 Invalid Page.ex.com \"a\" is invalid: spec.list: Invalid value: \"array\": 'operation cancelled: actual \
         cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: \
         self.all(x, self.all(y, self.all(z, x + y + z >= 0)))"
    );
    assert_eq!(scene.post(PAGES, of(&list(20))).await.0, 201);
}

#[tokio::test]
async fn a_definition_with_a_conversion_webhook_is_stored_by_a_lenient_server_only() {
    let mut definition = pages();
    definition["spec"]["conversion"] = json!({ "strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": { "url": "https://conversion.example.com" },
    } });
    let scene = Scene::new();
    let (code, refused) = scene.post(CRDS, definition.clone()).await;
    assert_eq!((code, &refused["reason"]), (501, &"NotImplemented".into()));
    let lenient = InProcessServer::with_clock(still).lenient();
    let request =
        Request::builder().method(Method::POST).uri(CRDS).header("content-type", "application/json");
    let request = request.body(Body::from(definition.to_string().into_bytes())).expect("a request");
    let answer = lenient.client().send(request).await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 201);
    let warnings: Vec<_> = answer.headers().get_all("warning").iter().collect();
    assert_eq!(
        warnings,
        ["299 - \"the in-process server does not do this: conversion webhooks of custom resources\""]
    );
}

#[tokio::test]
async fn a_definition_of_a_group_of_kubernetes_says_whether_it_is_approved() {
    for (said, status, reason) in [
        ("https://example.com/1", "True", "ApprovedAnnotation"),
        ("unapproved, a test", "False", "UnapprovedAnnotation"),
    ] {
        let scene = Scene::new();
        let mut definition = pages();
        definition["metadata"] =
            json!({ "name": "pages.x.k8s.io", "annotations": { "api-approved.kubernetes.io": said } });
        definition["spec"]["group"] = "x.k8s.io".into();
        assert_eq!(scene.post(CRDS, definition).await.0, 201);
        let (_, made) = scene.get(&format!("{CRDS}/pages.x.k8s.io")).await;
        let conditions = made["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions
            .iter()
            .find(|condition| condition["type"] == "KubernetesAPIApprovalPolicyConformant")
            .expect("the condition");
        assert_eq!((&found["status"], &found["reason"]), (&status.into(), &reason.into()));
    }
}

#[tokio::test]
async fn finalizers_that_say_no_owner_are_warned_of() {
    let scene = Scene::new();
    scene.post(CRDS, pages()).await;
    let mut page = page("a", "a1");
    page["metadata"]["finalizers"] = json!(["mine.ex.com", "mine", "ex.com/mine", "orphan"]);
    let request =
        Request::builder().method(Method::POST).uri(PAGES).header("content-type", "application/json");
    let request = request.body(Body::from(page.to_string().into_bytes())).expect("a request");
    let answer = scene.client.send(request).await.expect("an answer");
    let told = |name: &str, path: &str| {
        format!(
            "299 - \"metadata.finalizers: \\\"{name}\\\": prefer a domain-qualified finalizer name{path} to avoid accidental \
             conflicts with other finalizer writers\""
        )
    };
    let warnings: Vec<_> = answer.headers().get_all("warning").iter().cloned().collect();
    assert_eq!(warnings, [told("mine", ""), told("mine.ex.com", " including a path (/)")]);
}
