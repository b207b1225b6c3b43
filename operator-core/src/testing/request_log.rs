//! The requests about single objects that an operator has made.
//!
//! Lists and watches of whole collections are not recorded: the caches make them, and so does `settled()`. Nor are
//! those about the lease of an election, which go on while nothing happens.

use std::{fmt, sync::Arc};

use http::Method;
use parking_lot::Mutex;

use super::faults::RequestTarget;
use crate::client::{ForElection, TransportHook};

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

/// Records requests below any retry, so that each attempt counts.
pub(super) fn recorder(log: &Arc<Mutex<Vec<ObjectRequest>>>) -> TransportHook {
    let log = Arc::clone(log);
    TransportHook::around(move |request, inner| {
        let log = Arc::clone(&log);
        let is_for_election = request.extensions().get::<ForElection>().is_some();
        // A creation that is only tried, under any name, is about no object.
        let is_tried = *request.method() == Method::POST
            && request.uri().query().is_some_and(|options| options.contains("dryRun=All"));
        let target = RequestTarget::of(&request).filter(|_| !is_for_election && !is_tried);
        let method = request.method().clone();
        async move {
            let answer = inner.send(request).await;
            if let Some(RequestTarget { resource, namespace, name: Some(name), subresource, .. }) = target {
                let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
                log.lock().push(ObjectRequest { method, resource, namespace, name, subresource, code });
            }
            answer
        }
    })
}
