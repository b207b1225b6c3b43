//! All requests to the server, with their senders and results: recorded at its entrance, with the object before and
//! after.

use http::Method;
use integration_tests::prelude::*;
use operator_core::{
    client::TransportHook,
    testing::{InProcessServer, faults::RequestTarget},
};

use super::versions::Kind;

/// One write of an operator, or of somebody else.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub(super) at: Instant,
    /// Which operator; none is somebody else.
    pub(super) by: Option<usize>,
    pub(super) method: Method,
    pub(super) kind: Kind,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) code: u16,
    pub(super) before: Option<Arc<Value>>,
    pub(super) after: Option<Arc<Value>>,
}

/// What operators have written, in the server's order. Clones are the same log.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) server: InProcessServer,
    deeds: Arc<Mutex<Vec<Deed>>>,
}

impl Log {
    pub(super) fn new(server: &InProcessServer) -> Self {
        Self { server: server.clone(), deeds: Arc::default() }
    }

    pub(super) fn stored(&self, kind: Kind, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.server.stored("", &kind.plural(), Some(namespace), name)
    }

    /// What was done since the last call.
    pub(super) fn take(&self) -> Vec<Deed> {
        std::mem::take(&mut self.deeds.lock())
    }

    pub(super) fn add(&self, deed: Deed) {
        self.deeds.lock().push(deed);
    }

    /// The hook of an operator. The server answers a request at once, so that nobody has a turn between the two looks.
    pub(super) fn hook(&self, operator: usize) -> TransportHook {
        let log = self.clone();
        TransportHook::around(move |request, inner| {
            let (log, method) = (log.clone(), request.method().clone());
            let target = RequestTarget::of(&request).filter(|target| target.verb.is_write());
            async move {
                let about = target.and_then(|target| {
                    let kind = Kind::of_plural(&target.resource).filter(|_| target.group.is_empty())?;
                    Some((kind, target.namespace?, target.name?))
                });
                let Some((kind, namespace, name)) = about else { return inner.send(request).await };
                let before = log.stored(kind, &namespace, &name);
                let answer = inner.send(request).await;
                let after = log.stored(kind, &namespace, &name);
                let code = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
                let (at, by) = (Instant::now(), Some(operator));
                log.add(Deed { at, by, method, kind, namespace, name, code, before, after });
                answer
            }
        })
    }
}

/// A text in an object's metadata, of labels or annotations.
pub(super) fn text<'v>(object: &'v Value, of: &str, key: &str) -> Option<&'v str> {
    object["metadata"][of][key].as_str()
}

pub(super) fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

pub(super) fn references(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn is_going(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// All four marks, as they stand.
pub(super) fn marks(object: &Value) -> [String; 4] {
    let label = |key| text(object, "labels", key).unwrap_or_default().to_owned();
    let mark = text(object, "annotations", MARK).unwrap_or_default().to_owned();
    [label(CONTROLLER), label(NODE), label(OWNER), mark]
}

pub(super) const CONTROLLER: &str = "operator-core.io/controller";
pub(super) const NODE: &str = "operator-core.io/node";
pub(super) const OWNER: &str = "operator-core.io/owner";
pub(super) const MARK: &str = "operator-core.io/mark";
