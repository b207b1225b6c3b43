//! What a dry run answers to requests: reads of single objects, and which kinds are served. All else is refused.

use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIResource, APIResourceList};
use kube::{
    client::Body,
    core::{Status, response::StatusDetails},
};
use serde::Serialize;
use tower::{BoxError, service_fn, util::BoxService};

use super::world::World;
use crate::{
    client::{ResponseBody, TransportHook},
    resource::{Cluster, ObjectKey, ResourceType},
    testing::faults::{RequestTarget, Verb},
};

/// The transport of an operator's clients.
pub(super) fn transport(world: &Arc<World>) -> TransportHook {
    let world = Arc::clone(world);
    TransportHook::server(move || {
        let world = Arc::clone(&world);
        BoxService::new(service_fn(move |request: Request<Body>| {
            let answer = world.answer(&request);
            async move { Ok::<_, BoxError>(answer) }
        }))
    })
}

impl World {
    fn answer(&self, request: &Request<Body>) -> Response<ResponseBody> {
        let target = RequestTarget::of(request);
        match (target, self.group_version(request)) {
            (Some(target), _) if target.verb == Verb::Get && target.subresource.is_none() => {
                self.read(&target)
            }
            (None, Some(list)) => json(StatusCode::OK, &list),
            _ => {
                let (method, path) = (request.method(), request.uri().path());
                let message = format!(
                    "a dry run has no server: {method} {path} was asked for; write with the context, and read what the controller follows"
                );
                refused(&Status::failure(&message, "NotImplemented").with_code(501))
            }
        }
    }

    fn read(&self, target: &RequestTarget) -> Response<ResponseBody> {
        let name = target.name.as_deref().unwrap_or_default();
        let key = ObjectKey::new(Cluster::local(), target.namespace.as_deref(), name);
        let is_it = |kind: &&ResourceType| kind.group() == target.group && kind.plural() == target.resource;
        let kind = self.kinds.iter().find(is_it).filter(|kind| self.serves(kind));
        match kind.and_then(|kind| self.get(kind, &key)) {
            Some(object) => json(StatusCode::OK, &*object),
            None => {
                let message = format!("{} {name:?} not found", target.resource);
                let details = StatusDetails {
                    // Of a kind that isn't served no object is named.
                    name: kind.map(|_| name.to_owned()).unwrap_or_default(),
                    group: target.group.clone(),
                    kind: target.resource.clone(),
                    uid: String::new(),
                    causes: Vec::new(),
                    retry_after_seconds: 0,
                };
                refused(&Status::failure(&message, "NotFound").with_code(404).with_details(details))
            }
        }
    }

    /// The kinds of the group and version that a request asks for.
    fn group_version(&self, request: &Request<Body>) -> Option<APIResourceList> {
        let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
        let group_version = match path[..] {
            ["api", version] => version.to_owned(),
            ["apis", group, version] => format!("{group}/{version}"),
            _ => return None,
        };
        let kinds = self.kinds.iter().filter(|kind| kind.api_version() == group_version && self.serves(kind));
        let resources = kinds.map(|kind| APIResource {
            kind: kind.kind().to_owned(),
            name: kind.plural().to_owned(),
            namespaced: kind.is_namespaced(),
            ..APIResource::default()
        });
        Some(APIResourceList { group_version: group_version.clone(), resources: resources.collect() })
    }
}

fn refused(status: &Status) -> Response<ResponseBody> {
    json(StatusCode::from_u16(status.code).unwrap_or(StatusCode::NOT_IMPLEMENTED), status)
}

fn json(code: StatusCode, body: &impl Serialize) -> Response<ResponseBody> {
    let body = Full::from(serde_json::to_vec(body).unwrap_or_default());
    let mut response = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = code;
    response
}
