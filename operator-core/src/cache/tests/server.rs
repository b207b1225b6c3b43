//! A scripted API server: each request waits until the test answers it.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, channel::mpsc as body_channel};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

type AnswerBody = UnsyncBoxBody<Bytes, Infallible>;

/// A request that waits for its answer.
pub(super) struct Pending {
    /// Path and query.
    pub(super) uri: String,
    pub(super) headers: http::HeaderMap,
    answer: oneshot::Sender<Response<AnswerBody>>,
}

pub(super) struct Server(mpsc::UnboundedReceiver<Pending>);

/// An open watch. Dropping it ends the stream.
pub(super) struct OpenWatch(body_channel::UnboundedSender<Bytes>);

pub(super) fn scripted() -> (Client, Server) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<Body>| {
        let sender = sender.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            let uri = request.uri().to_string();
            let headers = request.headers().clone();
            let _ = sender.send(Pending { uri, headers, answer });
            answered.await.map_err(|_| std::io::Error::other("connection refused"))
        }
    });
    (Client::new(service, "default"), Server(receiver))
}

impl Server {
    /// The next request, which must come within ten minutes of (paused) time.
    pub(super) async fn next(&mut self) -> Pending {
        timeout(Duration::from_secs(600), self.0.recv())
            .await
            .expect("no request came")
            .expect("the client is gone")
    }

    /// The next request must be a watch after this version; opens it.
    pub(super) async fn open_watch(&mut self, version: u64) -> OpenWatch {
        let request = self.next().await;
        assert!(request.uri.contains("watch=true"), "{}", request.uri);
        assert!(request.uri.ends_with(&format!("resourceVersion={version}")), "{}", request.uri);
        request.open()
    }

    /// The next request must be for a streamed list; opens it.
    pub(super) async fn open_stream(&mut self) -> OpenWatch {
        let request = self.next().await;
        for part in [
            "watch=true",
            "sendInitialEvents=true",
            "resourceVersionMatch=NotOlderThan",
            "allowWatchBookmarks=true",
        ] {
            assert!(request.uri.contains(part), "{}", request.uri);
        }
        assert!(request.uri.ends_with("resourceVersion="), "{}", request.uri);
        request.open()
    }

    /// The next request must be for the first page of a list; answers it with everything.
    pub(super) async fn answer_list(&mut self, version: u64, items: &[Value]) {
        let request = self.next().await;
        assert!(!request.uri.contains("watch=true"), "{}", request.uri);
        assert!(!request.uri.contains("continue="), "{}", request.uri);
        request.page(version, items, "");
    }
}

impl Pending {
    pub(super) fn page(self, version: u64, items: &[Value], continue_token: &str) {
        let metadata = json!({"resourceVersion": version.to_string(), "continue": continue_token});
        let list = json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items});
        self.body(200, list.to_string());
    }

    pub(super) fn status(self, code: u16, reason: &str, message: &str) {
        let status = json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message});
        self.body(code, status.to_string());
    }

    /// One object.
    pub(super) fn object(self, object: &Value) {
        self.body(200, object.to_string());
    }

    /// The server knows the type, and has no object of that name.
    pub(super) fn no_object(self, name: &str) {
        let message = format!("configmaps \"{name}\" not found");
        let status = json!({
            "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound", "message": message,
            "details": { "name": name, "kind": "configmaps" },
        });
        self.body(404, status.to_string());
    }

    pub(super) fn body(self, code: u16, body: String) {
        let body = Full::new(Bytes::from(body)).boxed_unsync();
        let _ = self.answer.send(Response::builder().status(code).body(body).unwrap());
    }

    pub(super) fn retry_after(self, code: u16, seconds: u64) {
        let body = Full::new(Bytes::from("slow down")).boxed_unsync();
        let response = Response::builder().status(code).header("Retry-After", seconds);
        let _ = self.answer.send(response.body(body).unwrap());
    }

    /// Answers with headers, and with a body that stays open.
    pub(super) fn open(self) -> OpenWatch {
        let (sender, receiver) = body_channel::unbounded::<Bytes>();
        let frames = receiver.map(|bytes| Ok(http_body::Frame::data(bytes)));
        let body = StreamBody::new(frames).boxed_unsync();
        let _ = self.answer.send(Response::builder().status(200).body(body).unwrap());
        OpenWatch(sender)
    }
}

impl OpenWatch {
    pub(super) fn event(&self, kind: &str, object: &Value) {
        self.raw(&format!("{}\n", json!({"type": kind, "object": object})));
    }

    pub(super) fn bookmark(&self, version: u64) {
        let metadata = json!({"resourceVersion": version.to_string()});
        self.event("BOOKMARK", &json!({"kind": "ConfigMap", "metadata": metadata}));
    }

    /// The bookmark that ends a streamed list.
    pub(super) fn initial_end(&self, version: u64) {
        let annotations = json!({"k8s.io/initial-events-end": "true"});
        let metadata = json!({"resourceVersion": version.to_string(), "annotations": annotations});
        self.event("BOOKMARK", &json!({"kind": "ConfigMap", "metadata": metadata}));
    }

    pub(super) fn expired(&self) {
        self.event(
            "ERROR",
            &json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}),
        );
    }

    pub(super) fn raw(&self, text: &str) {
        let _ = self.0.unbounded_send(Bytes::from(text.to_owned()));
    }
}
