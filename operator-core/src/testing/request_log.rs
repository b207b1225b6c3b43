//! Which requests about single objects an operator has made.
//!
//! Lists and watches of whole collections are not recorded: they are the caches' business, and `settled()` makes some of
//! its own.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response};
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::Value;
use tower::{BoxError, Service, util::BoxService};

use crate::client::{ResponseBody, Transport, TransportHook};

/// A request about one object, and how it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRequest {
    /// The HTTP method.
    pub method: Method,
    /// The plural of the object's type, for example `configmaps`.
    pub resource: String,
    /// The object's namespace; `None` when it is cluster-scoped.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
    /// The subresource, for example `status`.
    pub subresource: Option<String>,
    /// The status code of the answer; `None` when there was none.
    pub code: Option<u16>,
}

impl ObjectRequest {
    /// Whether the request was meant to change the object.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }
}

impl fmt::Display for ObjectRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.method, self.resource, self.name)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        match self.code {
            Some(code) => write!(f, " -> {code}"),
            None => write!(f, " -> no answer"),
        }
    }
}

/// Records requests below any retry, so that each attempt counts. Clones share the record.
#[derive(Clone, Debug, Default)]
pub struct RequestLog(Arc<Mutex<Vec<ObjectRequest>>>);

impl RequestLog {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The hook to give to an operator's builder.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let log = self.clone();
        TransportHook::new(move |inner| log.wrap(inner))
    }

    /// What was recorded since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<ObjectRequest> {
        std::mem::take(&mut self.0.lock())
    }

    fn wrap(&self, inner: Transport) -> Transport {
        BoxService::new(Recorded { inner, log: self.clone() })
    }
}

/// The transport with its record.
struct Recorded {
    inner: Transport,
    log: RequestLog,
}

impl Service<Request<Body>> for Recorded {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let name = |body: &Body| {
            // The name of an object that is created stands in the body only. A body that is held in memory, as those of
            // all our requests are, is complete at once.
            let bytes = body.try_clone()?.collect_bytes().now_or_never()?.ok()?;
            let object: Value = serde_json::from_slice(&bytes).ok()?;
            Some(object.pointer("/metadata/name")?.as_str()?.to_owned())
        };
        let recorded = parse(request.method(), request.uri().path(), || name(request.body()));
        let answer = self.inner.call(request);
        let log = self.log.clone();
        async move {
            let answer = answer.await;
            if let Some(mut recorded) = recorded {
                recorded.code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
                log.0.lock().push(recorded);
            }
            answer
        }
        .boxed()
    }
}

/// Reads a request about a single object off its path; `None` for anything else.
fn parse(method: &Method, path: &str, created: impl FnOnce() -> Option<String>) -> Option<ObjectRequest> {
    let mut segments = path.trim_matches('/').split('/').peekable();
    match segments.next()? {
        "api" => segments.next()?,
        "apis" => segments.next().and_then(|_| segments.next())?,
        _ => return None,
    };
    let mut namespace = None;
    let mut resource = segments.next()?;
    if resource == "namespaces" {
        // `namespaces/x` is the namespace itself, `namespaces/x/pods` a collection in it.
        let name = segments.next()?;
        match segments.next() {
            None => {
                return Some(ObjectRequest {
                    method: method.clone(),
                    resource: resource.to_owned(),
                    namespace: None,
                    name: name.to_owned(),
                    subresource: None,
                    code: None,
                });
            }
            Some(inner) => {
                namespace = Some(name.to_owned());
                resource = inner;
            }
        }
    }
    let name = match segments.next() {
        Some(name) => name.to_owned(),
        None if *method == Method::POST => created()?,
        None => return None,
    };
    Some(ObjectRequest {
        method: method.clone(),
        resource: resource.to_owned(),
        namespace,
        name,
        subresource: segments.next().map(str::to_owned),
        code: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &Method, path: &str, expect: Option<&str>) {
        let parsed = parse(method, path, || Some("from-body".to_owned())).map(|request| {
            format!("{} in {}", request, request.namespace.as_deref().unwrap_or("no namespace"))
        });
        assert_eq!(parsed.as_deref(), expect, "{method} {path}");
    }

    #[test]
    fn requests_about_single_objects_are_told_from_others() {
        let (get, patch, post) = (Method::GET, Method::PATCH, Method::POST);
        check(&get, "/api/v1/namespaces/shop/configmaps", None);
        check(&get, "/apis/apps/v1/deployments", None);
        check(&get, "/readyz", None);
        check(&get, "/api/v1/namespaces/shop", Some("GET namespaces/shop -> no answer in no namespace"));
        check(&get, "/api/v1/nodes/one", Some("GET nodes/one -> no answer in no namespace"));
        check(
            &patch,
            "/apis/apps/v1/namespaces/shop/deployments/web/status",
            Some("PATCH deployments/web/status -> no answer in shop"),
        );
        check(&post, "/api/v1/namespaces/shop/pods", Some("POST pods/from-body -> no answer in shop"));
    }
}
