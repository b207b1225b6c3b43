//! Kinds that ours stores without effect: webhook configurations, APIServices, RuntimeClasses. They are of groups that nobody uses,
//! as the real server acts on them.

use serde_json::{Value, json};

use super::Both;

const NONE: Value = Value::Null;
const CHANGING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const DENYING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const CLASSES: &str = "/apis/node.k8s.io/v1/runtimeclasses";

fn webhook(name: &str) -> Value {
    json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": { "service": { "namespace": "default", "name": "none" }, "caBundle": "YQ==" },
        "rules": [{
            "operations": ["CREATE"],
            "apiGroups": ["nowhere.example.com"],
            "apiVersions": ["v1"],
            "resources": ["pages"],
        }],
    })
}

fn configuration(kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": { "name": name },
        "webhooks": [webhook("one.nowhere.example.com")],
    })
}

fn api_service(group: &str) -> Value {
    let spec =
        json!({ "group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15 });
    let metadata = json!({ "name": format!("v1.{group}") });
    json!({ "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": spec })
}

fn runtime_class(name: &str) -> Value {
    json!({
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": { "name": name }, "handler": "gvisor",
        "scheduling": { "nodeSelector": { "a": "b" }, "tolerations": [{ "key": "x", "operator": "Exists" }] },
        "overhead": { "podFixed": { "cpu": "0.5" } },
    })
}

#[tokio::test]
async fn kinds_without_effect_live_as_on_the_real_server() {
    let mut both = Both::start().await;
    let second = json!({ "webhooks": [{ "name": "one.nowhere.example.com", "timeoutSeconds": 5 }] });
    let with_webhook = |kind: &str| {
        let mut applied = configuration(kind, "stored");
        applied["webhooks"] = json!([webhook("two.nowhere.example.com")]);
        applied
    };
    for (path, object, patch, applied) in [
        (
            CHANGING,
            configuration("MutatingWebhookConfiguration", "stored"),
            ("STRATEGIC", second.clone()),
            with_webhook("MutatingWebhookConfiguration"),
        ),
        (
            DENYING,
            configuration("ValidatingWebhookConfiguration", "stored"),
            ("STRATEGIC", second),
            with_webhook("ValidatingWebhookConfiguration"),
        ),
        (
            SERVICES,
            api_service("stored.example.com"),
            ("MERGE", json!({ "spec": { "versionPriority": 16 } })),
            api_service("stored.example.com"),
        ),
        (
            CLASSES,
            runtime_class("stored"),
            ("MERGE", json!({ "metadata": { "labels": { "a": "b" } } })),
            runtime_class("stored"),
        ),
    ] {
        let one = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
        both.ask("PUT", &format!("{one}?dryRun=All"), &object).await;
        both.ask("POST", path, &object).await;
        both.ask("POST", path, &object).await;
        both.ask("GET", &one, &NONE).await;
        both.ask("TABLE", &one, &NONE).await;
        both.ask(patch.0, &one, &patch.1).await;
        both.ask("APPLY", &format!("{one}?fieldManager=other&force=true"), &applied).await;
        both.ask("APPLY", &format!("{one}?fieldManager=third"), &applied).await;
        both.ask("MERGE", &one, &json!({ "metadata": { "finalizers": ["example.com/a"] } })).await;
        both.ask("DELETE", &one, &NONE).await;
        both.ask("MERGE", &one, &json!({ "metadata": { "finalizers": null } })).await;
        both.ask("GET", &one, &NONE).await;
    }
    both.end();
}

#[tokio::test]
async fn an_api_service_of_another_server_has_the_status_that_is_written() {
    let mut both = Both::start().await;
    let mut remote = api_service("remote.example.com");
    remote["spec"]["service"] = json!({ "namespace": "default", "name": "none" });
    both.ask("POST", &format!("{SERVICES}?dryRun=All"), &remote).await;
    let local = api_service("local.example.com");
    both.ask("POST", SERVICES, &local).await;
    let one = format!("{SERVICES}/v1.local.example.com");
    for status in ["False", "x"] {
        let conditions = json!([{ "type": "Available", "status": status, "reason": "Missing" }]);
        both.ask(
            "MERGE",
            &format!("{one}/status?dryRun=All"),
            &json!({ "status": { "conditions": conditions } }),
        )
        .await;
    }
    both.ask("DELETE", &one, &NONE).await;
    both.end();
}

/// The object with another value at that pointer.
fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut object = object.clone();
    *object.pointer_mut(pointer).expect("it is there") = value;
    object
}

#[tokio::test]
async fn wrong_values_are_refused_as_by_the_real_server() {
    let mut both = Both::start().await;
    let changing = configuration("MutatingWebhookConfiguration", "wrong");
    let denying = configuration("ValidatingWebhookConfiguration", "wrong");
    let (service, class) = (api_service("wrong.example.com"), runtime_class("wrong"));
    let mut remote = service.clone();
    remote["spec"]["service"] = json!({});
    remote["spec"]["insecureSkipTLSVerify"] = json!(true);
    remote["spec"]["caBundle"] = json!("YQ==");
    let mut local = remote.clone();
    local["spec"]["service"] = NONE;
    let mut odd = remote.clone();
    odd["spec"]["service"] = json!({ "namespace": "a", "name": "b", "port": 70_000 });
    let bare = json!([{ "name": "a.b", "rules": [{}] }]);
    let odd_rule = json!([{
        "operations": ["*", "x"], "apiGroups": ["*", "a"], "apiVersions": ["*", ""], "resources": [""], "scope": "x",
    }]);
    let mut chosen = webhook("A.b.c");
    for (field, value) in [
        ("failurePolicy", json!("x")),
        ("matchPolicy", json!("x")),
        ("sideEffects", json!("Some")),
        ("reinvocationPolicy", json!("x")),
        ("timeoutSeconds", json!(31)),
        ("admissionReviewVersions", json!(["v2", "v2", "V3"])),
        ("objectSelector", json!({ "matchLabels": { "a": "-" } })),
        ("clientConfig", json!({ "service": { "name": "", "namespace": "a", "port": 0 } })),
    ] {
        chosen[field] = value;
    }
    let twice = json!([webhook("a.b.c"), webhook("a.b.c")]);
    let url = json!({ "url": "http://example.com/a" });
    let cases = [
        (CHANGING, with(&changing, "/webhooks", bare.clone())),
        (CHANGING, with(&changing, "/webhooks/0/rules", odd_rule)),
        (CHANGING, with(&changing, "/webhooks/0", chosen.clone())),
        (CHANGING, with(&changing, "/metadata/name", json!("A"))),
        (DENYING, with(&denying, "/webhooks", bare)),
        (DENYING, with(&denying, "/webhooks/0", chosen)),
        (DENYING, with(&denying, "/webhooks", twice)),
        (DENYING, with(&denying, "/webhooks/0/clientConfig", url)),
        (DENYING, with(&denying, "/metadata", json!({ "name": "wrong", "finalizers": ["a"] }))),
        (SERVICES, with(&service, "/metadata/name", json!("wrong"))),
        (SERVICES, with(&service, "/spec/group", json!(""))),
        (SERVICES, with(&service, "/spec/version", json!("1"))),
        (SERVICES, with(&service, "/spec", json!({}))),
        (SERVICES, remote),
        (SERVICES, local),
        (SERVICES, odd),
        (CLASSES, with(&class, "/handler", json!(""))),
        (CLASSES, with(&class, "/handler", json!("A b"))),
        (CLASSES, with(&class, "/scheduling/nodeSelector", json!({ "-": "-" }))),
        (CLASSES, with(&class, "/metadata", json!({ "name": "wrong", "finalizers": ["a"] }))),
    ];
    for (path, object) in cases {
        both.ask("POST", &format!("{path}?dryRun=All"), &object).await;
    }
    both.ask("POST", CLASSES, &class).await;
    let one = format!("{CLASSES}/wrong");
    both.ask("MERGE", &one, &json!({ "handler": "other" })).await;
    both.ask("DELETE", &one, &NONE).await;
    both.end();
}
