//! An API server in memory: one page with everything, then a watch.

#![allow(dead_code, reason = "each bench is a binary of its own and uses a part of this")]

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};

/// The version of the list; watch events come after it.
pub(crate) const LIST_VERSION: u64 = 1_000_000;

/// Makes the object of the event with this version.
pub(crate) type MakeEvent = Arc<dyn Fn(u64) -> Value + Send + Sync>;

/// What is served.
#[derive(Clone)]
pub(crate) struct Server {
    page: Bytes,
    event: Option<MakeEvent>,
    /// While it is set, the watch goes on as fast as it is read.
    pub(crate) busy: Arc<AtomicBool>,
    /// Events handed out so far.
    pub(crate) events: Arc<AtomicU64>,
}

impl Server {
    /// Lists these objects; a watch of them shows nothing.
    pub(crate) fn with(items: &[Value]) -> Self {
        let metadata = json!({ "resourceVersion": LIST_VERSION.to_string() });
        let list = json!({ "kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items });
        Self {
            page: Bytes::from(list.to_string()),
            event: None,
            busy: Arc::new(AtomicBool::new(true)),
            events: Arc::default(),
        }
    }

    /// Shows changes without end while it is busy.
    pub(crate) fn with_events(mut self, event: MakeEvent) -> Self {
        self.event = Some(event);
        self
    }

    pub(crate) fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let answer = server.answer(&request.uri().to_string());
            async move { Ok::<_, Infallible>(answer) }
        });
        Client::new(service, "default")
    }

    fn answer(&self, uri: &str) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
        let (code, body) = if uri.contains("sendInitialEvents") {
            let status = json!({ "kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid" });
            (422, Full::new(Bytes::from(status.to_string())).boxed_unsync())
        } else if uri.contains("watch=true") {
            (200, StreamBody::new(self.clone().watch().map(Frame::data).map(Ok)).boxed_unsync())
        } else {
            (200, Full::new(self.page.clone()).boxed_unsync())
        };
        Response::builder().status(code).body(body).expect("a code and a body make an answer")
    }

    fn watch(self) -> impl futures::Stream<Item = Bytes> + Send {
        stream::unfold((self, LIST_VERSION), |(server, version)| async move {
            let event = server.event.clone().filter(|_| server.busy.load(Ordering::Relaxed));
            let Some(event) = event else { return std::future::pending().await };
            let version = version + 1;
            server.events.fetch_add(1, Ordering::Relaxed);
            let line = format!("{}\n", json!({ "type": "MODIFIED", "object": event(version) }));
            Some((Bytes::from(line), (server, version)))
        })
    }
}
