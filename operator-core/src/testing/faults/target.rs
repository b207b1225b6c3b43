//! The target of a request to the API server.

use std::fmt;

use futures::FutureExt;
use http::{Method, Request, header};
use kube::client::Body;
use serde_json::Value;

/// The verb of a request, named as in role rules; updates and patches are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Follows a collection.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// A JSON, merge or strategic merge patch.
    Patch,
    /// Server-side apply.
    Apply,
    /// Deletes one object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
}

impl Verb {
    /// All verbs that change something.
    pub const WRITES: [Self; 6] =
        [Self::Create, Self::Update, Self::Patch, Self::Apply, Self::Delete, Self::DeleteCollection];

    /// Whether such a request is meant to change something.
    #[must_use]
    pub fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }

    /// In lower case, as in role rules.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Apply => "apply",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

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
        if target.verb == Verb::Patch && content_type(request).starts_with("application/apply-patch") {
            target.verb = Verb::Apply;
        }
        if target.verb == Verb::Create && target.name.is_none() {
            target.name = named_in(request.body());
        }
        Some(target)
    }

    fn parse(method: &Method, path: &str, query: Option<&str>) -> Option<Self> {
        let mut segments = path.trim_matches('/').split('/').filter(|segment| !segment.is_empty());
        let group = match segments.next()? {
            "api" => "",
            "apis" => segments.next()?,
            _ => return None,
        };
        let version = segments.next()?;
        let mut resource = segments.next()?;
        let mut rest: Vec<&str> = segments.collect();
        let mut namespace = None;
        // `namespaces/x` is the namespace itself and `namespaces/x/status` its status; all else lies in it.
        if resource == "namespaces" && rest.len() > 1 && !matches!(rest[1], "status" | "finalize") {
            namespace = Some(rest[0].to_owned());
            resource = rest[1];
            rest.drain(..2);
        }
        let (name, subresource) = (rest.first(), rest.get(1));
        let asks =
            |parameter: &str| query.is_some_and(|query| query.split('&').any(|pair| pair == parameter));
        let verb = match (method.as_str(), name) {
            ("GET", _) if asks("watch=true") || asks("watch=1") || asks("watch") => Verb::Watch,
            ("GET", Some(_)) => Verb::Get,
            ("GET", None) => Verb::List,
            ("POST", _) => Verb::Create,
            ("PUT", _) => Verb::Update,
            ("PATCH", _) => Verb::Patch,
            ("DELETE", Some(_)) => Verb::Delete,
            ("DELETE", None) => Verb::DeleteCollection,
            _ => return None,
        };
        Some(Self {
            verb,
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            namespace,
            name: name.map(|name| (*name).to_owned()),
            subresource: subresource.map(|name| (*name).to_owned()),
        })
    }

    /// The path of the collection that contains the object, over all namespaces.
    #[must_use]
    pub fn collection_path(&self) -> String {
        match self.group.as_str() {
            "" => format!("/api/{}/{}", self.version, self.resource),
            group => format!("/apis/{group}/{}/{}", self.version, self.resource),
        }
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

fn content_type(request: &Request<Body>) -> &str {
    request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The name in a body. A body in memory, as those of all requests of the library are, is complete at once.
fn named_in(body: &Body) -> Option<String> {
    let bytes = body.try_clone()?.collect_bytes().now_or_never()?.ok()?;
    let object: Value = serde_json::from_slice(&bytes).ok()?;
    Some(object.pointer("/metadata/name")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
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
