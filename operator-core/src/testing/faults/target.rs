//! The target of a request to the API server.

use std::fmt;

use futures::FutureExt;
use http::{Method, Request};
use kube::client::Body;
use serde_json::Value;

use crate::client::ResourcePath;
pub use crate::client::verb::Verb;

/// The target of a request: a verb, a type and, except for collections, an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestTarget {
    /// The verb.
    pub verb: Verb,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version of the API.
    pub version: String,
    /// The plural of the type, for example `configmaps`.
    pub resource: String,
    /// The namespace; `None` for cluster-scoped objects, and for a collection of all namespaces.
    pub namespace: Option<String>,
    /// The object's name. For a create it comes from the body; with `generateName` there is none.
    pub name: Option<String>,
    /// The subresource, for example `status`.
    pub subresource: Option<String>,
}

impl RequestTarget {
    /// Reads it from a request; `None` if it is about no object and no collection, such as `/readyz` and discovery.
    #[must_use]
    pub fn of(request: &Request<Body>) -> Option<Self> {
        let mut target = Self::parse(request.method(), request.uri().path(), request.uri().query())?;
        target.verb = target.verb.in_full(request.headers());
        if target.verb == Verb::Create && target.name.is_none() {
            target.name = named_in(request.body());
        }
        Some(target)
    }

    fn parse(method: &Method, path: &str, query: Option<&str>) -> Option<Self> {
        let place = ResourcePath::of(path)?;
        let verb = Verb::of(method, &place, query)?;
        let owned = |text: &str| text.to_owned();
        Some(Self {
            verb,
            group: owned(place.group),
            version: owned(place.version),
            resource: owned(place.resource),
            namespace: place.namespace.map(owned),
            name: place.name.map(owned),
            subresource: place.subresource.map(owned),
        })
    }

    /// The path of the collection that contains the object, over all namespaces.
    #[must_use]
    pub fn collection_path(&self) -> String {
        self.path_in(None)
    }

    /// The path of the collection, in this namespace if there is one.
    pub(crate) fn path_in(&self, namespace: Option<&str>) -> String {
        let Self { group, version, resource, .. } = self;
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let place = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
        format!("{root}/{version}{place}/{resource}")
    }

    /// The object without the verb: `deployments/shop/web/status`.
    #[must_use]
    pub fn object(&self) -> String {
        let parts =
            [Some(&self.resource), self.namespace.as_ref(), self.name.as_ref(), self.subresource.as_ref()];
        parts.into_iter().flatten().cloned().collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for RequestTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.as_str(), self.object())
    }
}

/// The name in a body. A body in memory, as those of all requests of the library are, is complete at once.
fn named_in(body: &Body) -> Option<String> {
    let bytes = body.try_clone()?.collect_bytes().now_or_never()?.ok()?;
    let object: Value = serde_json::from_slice(&bytes).ok()?;
    Some(object.pointer("/metadata/name")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    fn check(method: &Method, path: &str, expect: Option<&str>) {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let found = RequestTarget::parse(method, path, query).map(|target| target.to_string());
        assert_eq!(found.as_deref(), expect, "{method} {path}");
    }

    #[test]
    fn requests_are_told_from_each_other_by_method_path_and_query() {
        let (get, patch, post, delete) = (Method::GET, Method::PATCH, Method::POST, Method::DELETE);
        check(&get, "/api/v1/namespaces/shop/configmaps", Some("list configmaps/shop"));
        check(&get, "/apis/apps/v1/deployments", Some("list deployments"));
        check(&get, "/apis/apps/v1/deployments?watch=true&timeoutSeconds=9", Some("watch deployments"));
        check(&get, "/readyz", None);
        check(&get, "/apis/apps/v1", None);
        check(&get, "/apis", None);
        check(&get, "/api/v1/namespaces", Some("list namespaces"));
        check(&get, "/api/v1/namespaces/shop", Some("get namespaces/shop"));
        check(&patch, "/api/v1/namespaces/shop/status", Some("patch namespaces/shop/status"));
        check(&get, "/api/v1/nodes/one", Some("get nodes/one"));
        check(
            &patch,
            "/apis/apps/v1/namespaces/shop/deployments/web/status",
            Some("patch deployments/shop/web/status"),
        );
        check(&post, "/api/v1/namespaces/shop/pods", Some("create pods/shop"));
        check(&delete, "/api/v1/namespaces/shop/pods/a", Some("delete pods/shop/a"));
        check(&delete, "/api/v1/namespaces/shop/pods", Some("deletecollection pods/shop"));
    }

    #[test]
    fn a_create_is_named_by_its_body_and_an_apply_by_its_content_type() {
        let create = Request::post("/api/v1/namespaces/shop/pods")
            .body(Body::from(br#"{"metadata":{"name":"a"}}"#.to_vec()))
            .expect("a valid request");
        assert_eq!(RequestTarget::of(&create).expect("a target").to_string(), "create pods/shop/a");
        let apply = Request::patch("/api/v1/namespaces/shop/pods/a")
            .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
            .body(Body::empty())
            .expect("a valid request");
        assert_eq!(RequestTarget::of(&apply).expect("a target").to_string(), "apply pods/shop/a");
    }
}
