//! The transport of a dry run: the in-process server answers, and each write is noted.

use std::sync::Arc;

use futures::FutureExt;
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;
use tower::ServiceExt;

use super::world::{World, Write};
use crate::{
    client::TransportHook,
    event_source::Given,
    resource::{Cluster, ObjectKey},
    testing::faults::RequestTarget,
};

/// The transport of an operator's clients.
pub(super) fn transport(world: &Arc<World>) -> [TransportHook; 2] {
    let noting = Arc::clone(world);
    let notes = TransportHook::around(move |request, inner| {
        let (world, write) = (Arc::clone(&noting), written(&request));
        async move {
            if let Some(write) = &write {
                world.give_way(write);
            }
            if let Some(namespace) = write.as_ref().and_then(|write| write.key.namespace()) {
                world.has_namespace(namespace);
            }
            // Answered at the first poll: nothing comes between the two.
            let response = inner.send(request).await?;
            if let Some(mut write) = write {
                let code = response.status();
                write.refused = (!code.is_success()).then(|| code.as_u16());
                world.establish(&write);
                world.writes.lock().push(write);
            }
            Ok(response)
        }
    });
    [world.server.clone().into(), notes]
}

impl Given for World {
    fn list(&self, request: Request<Vec<u8>>) -> Option<String> {
        let request = request.map(Body::from);
        let response = self.server.clone().oneshot(request).now_or_never()?.ok()?;
        let is_listed = response.status().is_success();
        let body = response.into_body().collect().now_or_never()?.ok()?.to_bytes();
        is_listed.then(|| String::from_utf8(body.to_vec()).ok())?
    }

    fn resources(
        &self,
        _: &str,
        is: &dyn Fn(&(dyn std::any::Any + Send + Sync)) -> bool,
    ) -> Option<Arc<dyn std::any::Any + Send + Sync>> {
        self.resources.iter().find(|resources| is(&***resources)).cloned()
    }
}

/// The write that a request asks for; none for a `dryRun` request.
fn written(request: &Request<Body>) -> Option<Write> {
    let target = RequestTarget::of(request).filter(|target| target.verb.is_write())?;
    if request.uri().query().is_some_and(|query| query.contains("dryRun=")) {
        return None;
    }
    let bytes = request.body().try_clone().and_then(|body| body.collect_bytes().now_or_never()?.ok());
    let key = ObjectKey::new(
        Cluster::local(),
        target.namespace.as_deref(),
        target.name.as_deref().unwrap_or_default(),
    );
    let body: Value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    Some(Write { target, key, body, refused: None })
}
