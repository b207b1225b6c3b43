//! The requests about single objects that an operator has made.
//!
//! Lists and watches of whole collections are not recorded: the caches make them, and so does `settled()`. Nor are
//! those about the lease of an election, which go on while nothing happens.

use std::{fmt, sync::Arc};

use http::{Method, Request};
use kube::client::Body;
use parking_lot::Mutex;

use super::faults::RequestTarget;
use crate::client::{Answer, ForElection, Inner, TransportHook};

/// A request about one object, and how it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRequest {
    /// The HTTP method.
    pub method: Method,
    /// The plural of the object's type, for example `configmaps`.
    pub resource: String,
    /// The object's namespace; `None` if it is cluster-scoped.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
    /// The subresource, for example `status`.
    pub subresource: Option<String>,
    /// The status code of the answer; `None` if there was none.
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
pub(crate) struct RequestLog(Arc<Mutex<Vec<ObjectRequest>>>);

impl RequestLog {
    /// An empty record.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The hook to give to an operator's builder.
    #[must_use]
    pub(crate) fn hook(&self) -> TransportHook {
        let log = self.clone();
        TransportHook::around(move |request, inner| log.clone().record(request, inner))
    }

    /// What was recorded since the last call.
    #[must_use]
    pub(crate) fn take(&self) -> Vec<ObjectRequest> {
        std::mem::take(&mut self.0.lock())
    }

    async fn record(self, request: Request<Body>, inner: Inner) -> Answer {
        if request.extensions().get::<ForElection>().is_some() {
            return inner.send(request).await;
        }
        let recorded = RequestTarget::of(&request).and_then(|target| about_object(request.method(), target));
        let answer = inner.send(request).await;
        if let Some(mut recorded) = recorded {
            recorded.code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
            self.0.lock().push(recorded);
        }
        answer
    }
}

/// The request, if it is about a single object.
fn about_object(method: &Method, target: RequestTarget) -> Option<ObjectRequest> {
    Some(ObjectRequest {
        method: method.clone(),
        resource: target.resource,
        namespace: target.namespace,
        name: target.name?,
        subresource: target.subresource,
        code: None,
    })
}
