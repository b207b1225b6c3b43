//! One request of a story about many objects.
//!
//! Values that only a server knows are written as marks, which each server's [`Memory`] fills: `<s>` is the story's
//! name, `<uid cm/a>` the identity of an object, `<version cm/a>` its version, `<listed 0>` the version of the story's
//! first list, `<page>` the token of the last list's next page.

use http::{Method, Request};
use serde_json::Value;

use super::memory::Memory;

/// A request, with marks.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    body: Value,
    /// It is asked again until the servers agree: the real one does some things later, and reads some from a cache.
    pub(crate) again: bool,
    /// It is asked again until the servers agree on the code and on this part of the answer.
    pub(crate) until_same: Option<&'static str>,
    /// Asked by how stories begin; not left out to make one shorter.
    pub(crate) needed: bool,
}

impl Ask {
    fn new(method: Method, path: impl Into<String>) -> Self {
        let again = method == Method::GET;
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Value::Null,
            again,
            until_same: None,
            needed: false,
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self { body, ..Self::new(Method::POST, path) }.media("application/json")
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        Self { body, ..Self::new(Method::PUT, path) }.media("application/json")
    }

    pub(crate) fn merge(path: impl Into<String>, body: Value) -> Self {
        Self { body, ..Self::new(Method::PATCH, path) }.media("application/merge-patch+json")
    }

    pub(crate) fn apply(path: impl Into<String>, body: Value) -> Self {
        let ask = Self { body, ..Self::new(Method::PATCH, path) }.media("application/apply-patch+yaml");
        ask.query("fieldManager", "one")
    }

    pub(crate) fn delete(path: impl Into<String>, options: Value) -> Self {
        Self::new(Method::DELETE, path).with_body(options)
    }

    /// A deletion of what would be listed.
    pub(crate) fn into_deletion(self) -> Self {
        Self { method: Method::DELETE, again: false, ..self }
    }

    /// With options as its body.
    pub(crate) fn with_body(self, body: Value) -> Self {
        if body.is_null() { self } else { Self { body, ..self }.media("application/json") }
    }

    fn media(self, media: &str) -> Self {
        self.header("content-type", media)
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// As somebody else.
    pub(crate) fn by(self, user: &str, groups: &[&str]) -> Self {
        let ask = self.header("impersonate-user", user);
        groups.iter().fold(ask, |ask, group| ask.header("impersonate-group", group))
    }

    /// Not left out of a shorter story.
    pub(crate) fn needed(self) -> Self {
        Self { needed: true, ..self }
    }

    /// Asked again until the servers agree. For what changes nothing.
    pub(crate) fn patiently(self) -> Self {
        Self { again: true, ..self }
    }

    /// Asked again until the servers agree on the code and on a part of the answer. For what changes nothing.
    pub(crate) fn until_same(self, pointer: &'static str) -> Self {
        Self { until_same: Some(pointer), ..self }
    }

    pub(crate) fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    pub(crate) fn is_deletion(&self) -> bool {
        self.method == Method::DELETE
    }

    /// Whether it deletes all objects of a kind, or of a namespace.
    pub(crate) fn deletes_many(&self) -> bool {
        let below = self.path.split_once("/namespaces/");
        self.is_deletion() && below.is_some_and(|(_, below)| below.matches('/').count() < 2)
    }

    /// Whether dependents are deleted first.
    pub(crate) fn is_foreground(&self) -> bool {
        self.is_deletion() && self.body["propagationPolicy"] == "Foreground"
    }

    /// In one line.
    pub(crate) fn describe(&self) -> String {
        let query: Vec<_> = self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let headers = self.headers.iter().filter(|(name, _)| *name != "content-type");
        let headers: Vec<_> = headers.map(|(name, value)| format!("{name}: {value}")).collect();
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        format!("{} {} {} {} {body}", self.method, self.path, query.join(" "), headers.join(" "))
    }

    /// The request to one server.
    pub(crate) fn request(&self, memory: &Memory) -> http::Result<Request<Vec<u8>>> {
        let query: Vec<_> = self
            .query
            .iter()
            .map(|(name, value)| format!("{name}={}", escape(&memory.fill(value))))
            .collect();
        let path = memory.fill(&self.path);
        let uri = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
        let request = Request::builder().method(self.method.clone()).uri(uri);
        let request = self
            .headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, memory.fill(value)));
        let body =
            if self.body.is_null() { Vec::new() } else { memory.fill(&self.body.to_string()).into_bytes() };
        request.body(body)
    }
}

/// As it goes into a query.
fn escape(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
