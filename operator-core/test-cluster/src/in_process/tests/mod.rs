//! The server as a client sees it.

mod access;
mod admission;
mod back_door;
mod changed;
mod complete;
mod controllers;
mod cron_jobs;
mod custom;
mod deletion;
mod jobs;
mod lists;
mod objects;
mod rollouts;
mod rules;
mod values;
mod volumes;
mod watches;
mod workloads;

use http::{Method, Request};
use jiff::Timestamp;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::InProcessServer;

/// A clock that stands still.
fn still() -> Timestamp {
    Timestamp::from_second(1_700_000_000).expect("a time")
}

const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PAGES: &str = "/apis/ex.com/v1/namespaces/default/pages";

/// A server and a client of it.
pub(super) struct Scene {
    server: InProcessServer,
    client: Client,
}

impl Scene {
    fn new() -> Self {
        let server = InProcessServer::with_clock(still);
        Self { client: server.client(), server }
    }

    /// With a custom kind that has a status.
    pub(super) async fn with_pages() -> Self {
        let scene = Self::new();
        let (code, answer) = scene.post(CRDS, pages()).await;
        assert_eq!(code, 201, "{answer}");
        scene
    }

    async fn send(&self, method: Method, path: &str, content_type: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("content-type", content_type);
        let request = request.header("user-agent", "tests/1").body(Body::from(body)).expect("a request");
        let response = self.client.send(request).await.expect("an answer");
        let code = response.status().as_u16();
        let bytes = response.into_body().collect_bytes().await.expect("a body");
        let text = || String::from_utf8_lossy(&bytes).into_owned().into();
        (code, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
    }

    pub(super) async fn get(&self, path: &str) -> (u16, Value) {
        self.send(Method::GET, path, "", &Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::POST, path, "application/json", &body).await
    }

    async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::PUT, path, "application/json", &body).await
    }

    async fn patch(&self, path: &str, content_type: &str, body: Value) -> (u16, Value) {
        self.send(Method::PATCH, path, content_type, &body).await
    }

    async fn delete(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::DELETE, path, "application/json", &body).await
    }

    /// The lines of a watch that ends by its timeout, each as type, name and version.
    async fn watch(&self, path: &str) -> Vec<String> {
        let request = Request::get(path).body(Body::from(Vec::new())).expect("a request");
        let response = self.client.send(request).await.expect("an answer");
        assert_eq!(response.status(), 200);
        let bytes = response.into_body().collect_bytes().await.expect("a body");
        let text = String::from_utf8(bytes.into()).expect("text");
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect("json");
            let (metadata, text) =
                (&line["object"]["metadata"], |value: &Value| value.as_str().unwrap_or("-").to_owned());
            if line["type"] == "ERROR" {
                return format!("ERROR {} {}", line["object"]["code"], line["object"]["reason"]);
            }
            format!(
                "{} {} {}",
                text(&line["type"]),
                text(&metadata["name"]),
                text(&metadata["resourceVersion"])
            )
        });
        lines.collect()
    }
}

fn pages() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "pages.ex.com" },
        "spec": {
            "group": "ex.com",
            "names": { "kind": "Page", "plural": "pages" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": { "status": {} },
                "selectableFields": [{ "jsonPath": ".spec.a" }],
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "required": ["a"], "properties": {
                        "a": { "type": "string" }, "n": { "type": "integer", "default": 3 },
                    }},
                    "status": { "type": "object", "properties": { "s": { "type": "string" } } },
                }}},
            }],
        },
    })
}

fn page(name: &str, a: &str) -> Value {
    json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": name }, "spec": { "a": a } })
}

/// What a refusal says: code, reason, message.
fn said((code, status): (u16, Value)) -> String {
    assert_eq!(status["code"], code, "{status}");
    format!(
        "{code} {} {}",
        status["reason"].as_str().unwrap_or("-"),
        status["message"].as_str().unwrap_or("-")
    )
}
