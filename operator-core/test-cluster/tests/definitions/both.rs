//! Two servers that are asked the same.

use http::Request;
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use test_cluster::{ControlPlane, Controllers, InProcessServer};
use tokio::sync::OnceCell;

/// The real one, for all tests, each of which has kinds of its own; it ends with this process.
static REAL: OnceCell<ControlPlane> = OnceCell::const_new();

/// Both servers.
pub(crate) struct Both {
    pub(crate) real: Client,
    pub(crate) model: Client,
}

/// What a server answered: the code, and the body without what differs between servers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Both {
    #[expect(clippy::disallowed_methods, reason = "a server by itself has the machine's clock")]
    pub(crate) async fn start() -> Self {
        let real =
            REAL.get_or_init(async || ControlPlane::builder().start().await.unwrap()).await.client().unwrap();
        let model = InProcessServer::with_controllers(jiff::Timestamp::now, Controllers::Off).client();
        Self { real, model }
    }

    /// Asks both, and returns what each has answered.
    pub(crate) async fn ask(&self, method: &str, path: &str, kind: &str, body: &Value) -> (Answer, Answer) {
        let real = send(&self.real, method, path, kind, body).await;
        let model = send(&self.model, method, path, kind, body).await;
        (real, model)
    }

    /// Asks both, and fails if the answers differ; returns the model's.
    pub(crate) async fn same(&self, method: &str, path: &str, kind: &str, body: &Value) -> Answer {
        let (real, model) = self.ask(method, path, kind, body).await;
        let (shown, ours) = (pretty(&real), pretty(&model));
        assert!(real == model, "{method} {path} {body}\n--- real\n{shown}\n--- model\n{ours}");
        model
    }

    /// Creates a definition on both, and waits until it is served.
    pub(crate) async fn define(&self, definition: &Value) {
        let created = self.ask("POST", DEFINITIONS, JSON, definition).await;
        assert_eq!((created.0.code, created.1.code), (201, 201), "{created:#?}");
        self.served(definition).await;
    }

    /// Waits until the real server serves a definition as it is now.
    pub(crate) async fn served(&self, definition: &Value) {
        let spec = &definition["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let path = format!(
            "/apis/{}/{}/{}",
            text(&spec["group"]),
            text(&spec["versions"][0]["name"]),
            text(&spec["names"]["plural"])
        );
        let mut tries = 0;
        while send(&self.real, "GET", &path, "", &Value::Null).await.code != 200 {
            tries += 1;
            assert!(tries < 2_000, "{path} is not served");
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

pub(crate) async fn send(client: &Client, method: &str, path: &str, kind: &str, body: &Value) -> Answer {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let mut request = Request::builder().method(method).uri(path);
    if !kind.is_empty() {
        request = request.header("content-type", kind);
    }
    let response = client.send(request.body(Body::from(bytes)).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes)));
    Answer { code, body: comparable(body) }
}

fn comparable(mut body: Value) -> Value {
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            metadata.remove(field);
        }
    }
    let causes = body.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    if let Some(causes) = causes {
        // The real server goes through fields in no order, and the message says the same again.
        causes.sort_by_key(Value::to_string);
        if causes.len() > 1 {
            let message = body["message"].as_str().unwrap_or_default();
            body["message"] = message.split(" is invalid: ").next().into();
        }
    }
    if let Some(details) = body.get_mut("details").and_then(Value::as_object_mut) {
        details.remove("uid");
    }
    unnamed(body)
}

/// The real server names the type of an object after the time.
fn unnamed(value: Value) -> Value {
    match value {
        Value::String(text) => match text.find("selfType") {
            Some(at) => {
                let (before, rest) = text.split_at(at + "selfType".len());
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let rest = unnamed(rest[digits..].into());
                Value::String(format!("{before}{}", rest.as_str().unwrap_or_default()))
            }
            None => Value::String(text),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(unnamed).collect()),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, unnamed(value))).collect(),
        other => other,
    }
}

pub(crate) fn pretty(answer: &Answer) -> String {
    format!("{} {}", answer.code, serde_json::to_string_pretty(&answer.body).unwrap())
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
