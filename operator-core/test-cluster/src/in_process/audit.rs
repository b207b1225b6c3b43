//! The calls that were answered, as in the audit log of a real server. Pure.

use http::Method;

use super::request::{Request, Route, Target};
use crate::audit::AuditEvent;

/// The administrator's name.
pub(super) const ADMIN: &str = "admin";

/// A request as an entry of the log, without the answer's code.
pub(super) fn event(request: &Request) -> AuditEvent {
    let none = Target::default();
    let target = match &request.route {
        Route::Objects(target) => target,
        _ => &none,
    };
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    // A namespace is said to be in itself.
    let of_namespace = target.group.is_empty() && target.plural == "namespaces";
    AuditEvent {
        verb: verb(request).to_owned(),
        user_agent: request.user_agent.clone(),
        user: request.user.name.clone().unwrap_or_else(|| ADMIN.to_owned()),
        impersonated: request.sender.is_some(),
        group: target.group.clone(),
        resource: target.plural.clone(),
        subresource: text(&target.subresource),
        namespace: text(if of_namespace { &target.name } else { &target.namespace }),
        name: text(&target.name),
        uri: request.uri.clone(),
        code: 0,
        stage: "ResponseComplete".to_owned(),
    }
}

/// What a request does, in the words of RBAC.
pub(super) fn verb(request: &Request) -> &'static str {
    let target = match &request.route {
        Route::Objects(target) => Some(target),
        _ => None,
    };
    let of_collection = target.is_some_and(|target| target.name.is_none());
    let watches = of_collection && request.query.is_true("watch");
    match request.method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if of_collection => "deletecollection",
        Method::DELETE => "delete",
        _ if watches => "watch",
        _ if of_collection => "list",
        _ => "get",
    }
}
