//! The requests of an act, straight to the server: each is answered before anything else has a turn.

use http::{Method, Request, header};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;
use std::sync::Arc;
use tower::Service;

use crate::testing::{
    InProcessServer,
    faults::RequestTarget,
    simulation::record::{Actor, Call, ScheduleRecord},
};

/// An answer; without a code if there was none.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) body: Value,
}

pub(super) struct Requests {
    pub(super) server: InProcessServer,
    pub(super) record: Arc<ScheduleRecord>,
}

impl Requests {
    /// Deletes an object, and what it owns with it.
    pub(super) async fn delete(&self, path: &str) -> Reply {
        let uri = format!("{path}?propagationPolicy=Background");
        self.send(Method::DELETE, &uri, "application/json", &Value::Null).await
    }

    pub(super) async fn send(&self, method: Method, uri: &str, media: &str, body: &Value) -> Reply {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(uri).header(header::CONTENT_TYPE, media);
        let Ok(request) = request.body(Body::from(bytes)) else { return Reply::default() };
        let (target, at) = (RequestTarget::of(&request), self.record.now());
        let Ok(answer) = self.server.clone().call(request).await else { return Reply::default() };
        let code = answer.status().as_u16();
        if let Some(target) = target {
            self.record.called(Call { at, by: Actor::User, target, code: Some(code) });
        }
        let bytes = answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        Reply { code, body: serde_json::from_slice(&bytes).unwrap_or_default() }
    }
}
