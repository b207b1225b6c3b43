//! Two servers that are asked the same.

use std::{collections::BTreeSet, fmt::Write};

use http::{Method, Request};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use test_cluster::{Controllers, InProcessServer, eventually};

use super::{
    masks::{comparable, masked},
    planes,
};

/// What a server says: the code, and the body, which is a text if it isn't JSON.
pub(crate) type Answer = (u16, Value);

/// A client of the real one.
pub(crate) async fn real() -> Client {
    let mut config = planes::plain().await.config();
    // A refusal is to be seen, not tried again.
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}

/// One of ours, whose controllers are off, too.
#[expect(clippy::disallowed_methods, reason = "the real server has the machine's clock")]
pub(crate) fn ours() -> InProcessServer {
    InProcessServer::with_controllers(jiff::Timestamp::now, Controllers::Off)
}

/// The field of an answer that has its warnings; the last one.
pub(crate) const WARNINGS: &str = "~warnings";

/// Two servers, and what their answers differ in.
pub(crate) struct Both {
    pub(crate) real: Client,
    pub(crate) ours: Client,
    user: Option<(String, Vec<String>)>,
    differences: String,
    asked: usize,
}

impl Both {
    /// The real one of this binary, and one of the test's own, whose controllers are off.
    pub(crate) async fn start() -> Self {
        Self::with(ours().client()).await
    }

    /// The real one of this binary, and another one.
    pub(crate) async fn with(ours: Client) -> Self {
        Self::of(real().await, ours)
    }

    /// Two servers, each with a namespace.
    pub(crate) async fn new(namespace: &str) -> Self {
        let mut both = Self::start().await;
        both.ask("POST", "/api/v1/namespaces", &json!({ "metadata": { "name": namespace } })).await;
        both
    }

    /// Two that somebody has started.
    pub(crate) fn of(real: Client, ours: Client) -> Self {
        Self { real, ours, user: None, differences: String::new(), asked: 0 }
    }

    /// From now on, requests are those of this user; without a name, of the administrator.
    pub(crate) fn be(&mut self, user: &str, groups: &[&str]) {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        self.user = (!user.is_empty()).then(|| (user.to_owned(), groups));
    }

    /// Asks both; returns what the real one says. The method may be MERGE, JSON, STRATEGIC or APPLY for patches, and TABLE for
    /// a GET of rows. A body that is a text is sent as it is.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: &Value) -> Value {
        self.ask_with(method, path, body, |answer| answer).await
    }

    /// The same, with one more mask for both answers.
    pub(crate) async fn ask_with(
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

    /// The same, where of an answer that is no refusal only the code and the warnings are compared.
    pub(crate) async fn ask_code(&mut self, method: &str, path: &str, body: &Value) {
        let code = |answer: String| {
            let warnings = answer.find(WARNINGS).map_or("", |at| &answer[at..]);
            if answer.starts_with('2') { format!("{} {warnings}", &answer[..3]) } else { answer }
        };
        self.ask_with(method, path, body, code).await;
    }

    /// Asks both, and returns what each has answered: the real one, and ours.
    pub(crate) async fn pair(&self, method: &str, path: &str, body: &Value) -> (Answer, Answer) {
        let real = send(&self.real, self.user.as_ref(), method, path, body).await;
        let ours = send(&self.ours, self.user.as_ref(), method, path, body).await;
        (comparable(real), comparable(ours))
    }

    /// Asks both, and fails if the answers differ.
    pub(crate) async fn same(&self, method: &str, path: &str, body: &Value) -> Answer {
        let (real, ours) = self.pair(method, path, body).await;
        let (shown, other) = (pretty(&real), pretty(&ours));
        assert!(real == ours, "{method} {path} {body}\n--- real\n{shown}\n--- ours\n{other}");
        ours
    }

    /// Waits until the real one answers with this code: what it knows of other objects comes a moment later.
    pub(crate) async fn until(&self, code: u16, method: &str, path: &str, body: &Value) {
        let look = async || Ok((send(&self.real, None, method, path, body).await.0 == code).then_some(()));
        eventually(&format!("{code} for {method} {path}"), look).await.expect("the real server comes to it");
    }

    /// Asks the real one until it answers with this code, and ours once, which has to answer with it at once. For what is free
    /// again: the real one's repair of addresses may still hold one that has just been given back.
    pub(crate) async fn ask_until(&mut self, code: u16, method: &str, path: &str, body: &Value) {
        self.asked += 1;
        self.until(code, method, path, body).await;
        let (ours, answer) = send(&self.ours, None, method, path, body).await;
        if ours != code {
            let _ =
                writeln!(self.differences, "{method} {path} {body}\n  real: {code}\n  ours: {ours} {answer}");
        }
    }

    /// Waits until the real one knows that a user may do something: it learns of roles a moment later.
    pub(crate) async fn until_allowed(&self, user: &str, what: &Value) {
        let review = json!({ "spec": { "user": user, "resourceAttributes": what } });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let look = async || {
            let (_, answer) = send(&self.real, None, "POST", path, &review).await;
            Ok((answer["status"]["allowed"] == true).then_some(()))
        };
        eventually(&format!("{user} may {what}"), look).await.expect("the real server comes to know it");
    }

    /// Fails if an answer was different.
    pub(crate) fn end(self) {
        assert!(self.asked > 1, "nothing was asked");
        assert!(self.differences.is_empty(), "the servers differ:\n{}", self.differences);
    }
}

/// The code and the body of an answer. The methods are those of [`Both::ask`].
pub(crate) async fn send(
    client: &Client,
    user: Option<&(String, Vec<String>)>,
    method: &str,
    path: &str,
    body: &Value,
) -> Answer {
    let content_type = match method {
        "MERGE" => "application/merge-patch+json",
        "JSON" => "application/json-patch+json",
        "STRATEGIC" => "application/strategic-merge-patch+json",
        "APPLY" => "application/apply-patch+yaml",
        _ => "application/json",
    };
    let accept = match method {
        "TABLE" => "application/json;as=Table;g=meta.k8s.io;v=v1",
        _ => "application/json",
    };
    let method = match method {
        "TABLE" => Method::GET,
        "MERGE" | "JSON" | "STRATEGIC" | "APPLY" => Method::PATCH,
        other => other.parse().expect("a method"),
    };
    let body = match body {
        Value::Null => Vec::new(),
        Value::String(text) => text.clone().into_bytes(),
        body => body.to_string().into_bytes(),
    };
    let mut request = Request::builder().method(method).uri(path);
    request =
        request.header("content-type", content_type).header("accept", accept).header("user-agent", "both/1");
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
    let warnings = response.headers().get_all("warning").iter();
    // Those about the entries of a map come in no order.
    let warnings: BTreeSet<_> =
        warnings.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let bytes = response.into_body().collect_bytes().await.expect("a body");
    let text = || String::from_utf8_lossy(&bytes).into_owned().into();
    let mut body: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
    if let Some(retry) = retry {
        body["(retry-after)"] = retry.into();
    }
    if !warnings.is_empty() {
        body[WARNINGS] = json!(warnings);
    }
    (code, body)
}

/// An answer for people.
pub(crate) fn pretty((code, body): &Answer) -> String {
    format!("{code} {body:#}")
}
