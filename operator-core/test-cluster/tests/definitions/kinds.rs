//! Definitions of the tests, and their objects.

use serde_json::{Value, json};

use crate::harness::both::Both;

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Creates a definition on both, and waits until it is served.
pub(crate) async fn define(both: &Both, definition: &Value) {
    let created = both.pair("POST", DEFINITIONS, definition).await;
    assert_eq!((created.0.0, created.1.0), (201, 201), "{created:#?}");
    served(both, definition).await;
}

/// Waits until the real server serves a definition as it is now.
pub(crate) async fn served(both: &Both, definition: &Value) {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, version) = (text(&spec["group"]), text(&spec["versions"][0]["name"]));
    let path = format!("/apis/{group}/{version}/{}", text(&spec["names"]["plural"]));
    both.until(200, "GET", &path, &Value::Null).await;
}

/// A definition of one version.
pub(crate) fn definition(plural: &str, kind: &str, version: &Value) -> Value {
    let mut version = version.clone();
    for (name, value) in [("name", json!("v1")), ("served", json!(true)), ("storage", json!(true))] {
        if version[name].is_null() {
            version[name] = value;
        }
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.test.example.com")},
        "spec": {
            "group": "test.example.com", "scope": "Cluster", "versions": [version],
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
        },
    })
}

/// A version whose spec has a schema.
pub(crate) fn of_spec(spec: &Value) -> Value {
    json!({"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
}

/// An object.
pub(crate) fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "test.example.com/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}
