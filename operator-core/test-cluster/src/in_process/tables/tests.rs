//! Tables as `kubectl get` asks for them.

use http::Request;
use jiff::Timestamp;
use kube::client::Body;
use serde_json::{Value, json};

use super::duration::human;
use crate::in_process::InProcessServer;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

async fn text(server: &InProcessServer, method: &str, path: &str, body: &Value) -> String {
    let request = Request::builder().method(method).uri(path).header("accept", TABLE);
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request =
        request.header("content-type", "application/json").body(Body::from(body)).expect("a request");
    let response = server.client().send(request).await.expect("an answer");
    String::from_utf8(response.into_body().collect_bytes().await.expect("a body").into()).expect("text")
}

async fn table(server: &InProcessServer, path: &str) -> Value {
    serde_json::from_str(&text(server, "GET", path, &Value::Null).await).expect("json")
}

async fn create(server: &InProcessServer, path: &str, body: Value) {
    let answer = text(server, "POST", path, &body).await;
    assert!(answer.contains("\"Table\""), "{answer}");
}

fn server() -> InProcessServer {
    InProcessServer::with_clock(|| Timestamp::from_second(1_700_000_000).expect("a time"))
}

#[tokio::test]
async fn a_list_is_a_table_with_columns_cells_and_metadata() {
    let server = server();
    let config = json!({ "metadata": { "name": "a" }, "data": { "x": "1", "y": "2" } });
    create(&server, "/api/v1/namespaces/default/configmaps", config).await;
    let table = table(&server, "/api/v1/namespaces/default/configmaps").await;
    assert_eq!(table["apiVersion"], "meta.k8s.io/v1");
    let names: Vec<_> =
        table["columnDefinitions"].as_array().into_iter().flatten().map(|c| &c["name"]).collect();
    assert_eq!(json!(names), json!(["Name", "Data", "Age"]));
    assert_eq!(table["columnDefinitions"][0]["format"], "name");
    assert_eq!(table["rows"][0]["cells"], json!(["a", 2, "0s"]));
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "a");
    assert!(table["metadata"]["resourceVersion"].is_string());
}

#[tokio::test]
async fn a_row_shows_of_its_object_what_is_asked_for() {
    let server = server();
    let none = table(&server, "/api/v1/namespaces/default?includeObject=None").await;
    assert_eq!(none["rows"][0], json!({ "cells": ["default", "Active", "0s"], "object": null }));
    let whole = table(&server, "/api/v1/namespaces?includeObject=Object").await;
    assert_eq!(whole["rows"][0]["object"]["kind"], "Namespace");
    let wrong = table(&server, "/api/v1/namespaces?includeObject=Foo").await;
    assert_eq!(wrong["code"], 400);
    let absent = table(&server, "/api/v1/namespaces/absent").await;
    assert_eq!((&absent["kind"], &absent["code"]), (&json!("Status"), &json!(404)));
}

#[tokio::test]
async fn a_watch_names_its_columns_once() {
    let server = server();
    let lines = text(&server, "GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1", &Value::Null).await;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("json")).collect();
    assert!(lines.len() > 1);
    assert!(lines[0]["object"]["columnDefinitions"].is_array());
    assert!(lines[1]["object"]["columnDefinitions"].is_null());
    assert_eq!(lines[1]["object"]["rows"][0]["cells"][1], "Active");
}

#[tokio::test]
async fn a_definition_s_columns_are_shown() {
    let server = server();
    let definition = json!({
        "metadata": { "name": "pages.ex.com" },
        "spec": {
            "group": "ex.com", "scope": "Namespaced", "names": { "kind": "Page", "plural": "pages" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
                "additionalPrinterColumns": [
                    { "name": "A", "type": "string", "jsonPath": ".spec.a", "priority": 1 },
                    { "name": "N", "type": "integer", "jsonPath": ".spec.n", "description": "how many" },
                    { "name": "Born", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
                ],
            }],
        },
    });
    create(&server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).await;
    let page = json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "p" },
        "spec": { "a": ["x"], "n": 4 } });
    create(&server, "/apis/ex.com/v1/namespaces/default/pages", page).await;
    let table = table(&server, "/apis/ex.com/v1/pages").await;
    assert_eq!(table["rows"][0]["cells"], json!(["p", "[\"x\"]", 4, "0s"]));
    assert_eq!(table["columnDefinitions"][1]["priority"], 1);
    assert_eq!(
        table["columnDefinitions"][1]["description"],
        "Custom resource definition column (in JSONPath format): .spec.a"
    );
    assert_eq!(table["columnDefinitions"][2]["description"], "how many");
}

#[test]
fn durations_have_two_or_three_digits() {
    let shown =
        [-5, -1, 0, 119, 120, 123, 599, 600, 10_799, 10_800, 28_740, 28_800, 172_800, 180_000, 700_000];
    let shown: Vec<_> = shown.into_iter().map(human).collect();
    let wanted = [
        "<invalid>",
        "0s",
        "0s",
        "119s",
        "2m",
        "2m3s",
        "9m59s",
        "10m",
        "179m",
        "3h",
        "7h59m",
        "8h",
        "2d",
        "2d2h",
        "8d",
    ];
    assert_eq!(shown, wanted);
    assert_eq!((human(63_072_000), human(63_158_400)), ("2y".to_owned(), "2y1d".to_owned()));
}
