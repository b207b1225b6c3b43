//! The same requests to the in-process server and to a real one: the answers are equal, word by word.
//!
//! Identities, versions, times and addresses are masked. All differences of a test are told at once.

mod accounts;
mod admission;
mod events;
mod rights;
mod subresources;

use std::fmt::Write;

use http::{Method, Request};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use test_cluster::{ControlPlane, Controllers, InProcessServer};
use tokio::sync::OnceCell;

/// The real one, for all tests; it ends with this process.
static REAL: OnceCell<ControlPlane> = OnceCell::const_new();

async fn real() -> Client {
    let plane =
        REAL.get_or_init(|| async { ControlPlane::builder().start().await.expect("a control plane") });
    let mut config = plane.await.config();
    // A refusal is to be seen, not tried again.
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}

/// Two servers, and what their answers differ in.
struct Both {
    real: Client,
    ours: Client,
    user: Option<(String, Vec<String>)>,
    differences: String,
    asked: usize,
}

impl Both {
    /// Two servers, each with a namespace.
    #[expect(clippy::disallowed_methods, reason = "the real server has the machine's clock")]
    async fn new(namespace: &str) -> Self {
        let server = InProcessServer::with_controllers(jiff::Timestamp::now, Controllers::Off);
        let mut both = Self::of(real().await, server.client());
        both.ask("POST", "/api/v1/namespaces", &json!({ "metadata": { "name": namespace } })).await;
        both
    }

    /// Two that somebody has started.
    fn of(real: Client, ours: Client) -> Self {
        Self { real, ours, user: None, differences: String::new(), asked: 0 }
    }

    /// From now on, requests are those of this user; without a name, of the administrator.
    fn be(&mut self, user: &str, groups: &[&str]) {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        self.user = (!user.is_empty()).then(|| (user.to_owned(), groups));
    }

    /// Asks both; returns what the real one says. The method may be MERGE, JSON, STRATEGIC or APPLY for patches.
    async fn ask(&mut self, method: &str, path: &str, body: &Value) -> Value {
        self.ask_with(method, path, body, |answer| answer).await
    }

    /// The same, with one more mask for both answers.
    async fn ask_with(
        &mut self,
        method: &str,
        path: &str,
        body: &Value,
        mask: fn(String) -> String,
    ) -> Value {
        self.asked += 1;
        let real = send(&self.real, self.user.as_ref(), method, path, body).await;
        let ours = send(&self.ours, self.user.as_ref(), method, path, body).await;
        let (shown, other) = (mask(masked(real.clone())), mask(masked(ours)));
        if shown != other {
            let _ = writeln!(self.differences, "{method} {path} {body}\n  real: {shown}\n  ours: {other}");
        }
        real.1
    }

    /// Fails if an answer was different.
    fn end(self) {
        assert!(self.asked > 1, "nothing was asked");
        assert!(self.differences.is_empty(), "the servers differ:\n{}", self.differences);
    }
}

async fn send(
    client: &Client,
    user: Option<&(String, Vec<String>)>,
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, Value) {
    let content_type = match method {
        "MERGE" => "application/merge-patch+json",
        "JSON" => "application/json-patch+json",
        "STRATEGIC" => "application/strategic-merge-patch+json",
        "APPLY" => "application/apply-patch+yaml",
        _ => "application/json",
    };
    let method = match method {
        "MERGE" | "JSON" | "STRATEGIC" | "APPLY" => Method::PATCH,
        other => other.parse().expect("a method"),
    };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let mut request = Request::builder().method(method).uri(path);
    request = request.header("content-type", content_type).header("user-agent", "both/1");
    if let Some((user, groups)) = user {
        request = request.header("impersonate-user", user);
        for group in groups {
            request = request.header("impersonate-group", group);
        }
    }
    let response = client.send(request.body(Body::from(body)).expect("a request")).await.expect("an answer");
    let code = response.status().as_u16();
    let retry =
        response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = response.into_body().collect_bytes().await.expect("a body");
    let text = || String::from_utf8_lossy(&bytes).into_owned().into();
    let mut body: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
    if let Some(retry) = retry {
        body["(retry-after)"] = retry.into();
    }
    (code, body)
}

/// Without what two servers can't agree on.
fn masked((code, body): (u16, Value)) -> String {
    let mut body = body;
    mask(&mut body);
    format!("{code} {}", without_uids(&body.to_string()))
}

fn mask(value: &mut Value) {
    const TIMES: [&str; 7] = [
        "creationTimestamp",
        "deletionTimestamp",
        "expirationTimestamp",
        "lastTransitionTime",
        "lastTimestamp",
        "time",
        "token",
    ];
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if value.is_string() && (TIMES.contains(&name.as_str()) || name == "resourceVersion") {
                    *value = "(masked)".into();
                }
                mask(value);
                // Entries of one time have another order than those of two.
                if let ("managedFields", Value::Array(entries)) = (name.as_str(), &mut *value) {
                    entries.sort_by_key(Value::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}

/// Replaces everything that has the form of a uid.
fn without_uids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.char_indices().map(|(at, _)| at).find(|at| is_uid(&rest[*at..])) {
        out.push_str(&rest[..at]);
        out.push_str("(uid)");
        rest = &rest[at + 36..];
    }
    out + rest
}

fn is_uid(text: &str) -> bool {
    let Some(start) = text.as_bytes().get(..36) else { return false };
    start.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
