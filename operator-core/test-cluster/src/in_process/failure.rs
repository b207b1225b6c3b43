//! Refusals, in the real server's words.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{fields::Refusal, kinds::Kind, store::Expired};

/// A cause of a refusal: reason, field, message.
pub(super) type Cause = (String, String, String);

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    /// A `Status` object.
    Status(Box<Status>),
    /// The answer for a path that isn't served is plain text.
    Page,
}

/// The parts of a `Status` that differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Status {
    pub(super) code: u16,
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) details: Option<Value>,
    /// A token to continue a list that has expired.
    pub(super) resume: Option<String>,
}

/// A reason in the words of another part of the server.
type Reworded = fn(&str) -> String;

impl Failure {
    /// A refusal without details.
    pub(super) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self::Status(Box::new(Status { code, reason, message: message.into(), details: None, resume: None }))
    }

    /// The same with details.
    pub(super) fn with(mut self, details: Value) -> Self {
        if let Self::Status(status) = &mut self {
            status.details = Some(details);
        }
        self
    }

    /// 501: what this server doesn't do, and which server does.
    pub(super) fn not_modelled(feature: impl std::fmt::Display) -> Self {
        let message = format!(
            "the in-process server does not do this: {feature}; run the test on a real server, with `ControlPlane` or \
             operator-core's `TestCluster::real()`"
        );
        Self::new(501, "NotImplemented", message)
    }

    /// 400.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 500, which the real server returns where 400 would be correct.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 404 for a path below a group that exists.
    pub(super) fn no_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").with(json!({}))
    }

    /// 405.
    pub(super) fn method() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
            .with(json!({}))
    }

    /// 405 for something that custom objects don't have.
    pub(super) fn unsupported(kind: &Kind, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{}\"", kind.qualified());
        Self::new(405, "MethodNotAllowed", message).with(details(kind, ""))
    }

    /// 404 for an object.
    pub(super) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", kind.qualified()))
            .with(details(kind, name))
    }

    /// 409: already exists.
    pub(super) fn exists(kind: &Kind, name: &str, ends: bool) -> Self {
        let ends = if ends { "object is being deleted: " } else { "" };
        let message = format!("{ends}{} \"{name}\" already exists", kind.qualified());
        Self::new(409, "AlreadyExists", message).with(details(kind, name))
    }

    /// 409: what the request says about the object isn't true.
    pub(super) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.qualified());
        Self::new(409, "Conflict", message).with(details(kind, name))
    }

    /// 409: another version than the one the request is based on.
    pub(super) fn outdated(kind: &Kind, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// 409: a precondition of a deletion, whose message names the kind where others name the resource.
    pub(super) fn precondition(kind: &Kind, name: &str, why: &str) -> Self {
        let qualified = kind.qualified_kind();
        let message = format!("Operation cannot be fulfilled on {qualified} \"{name}\": {why}");
        Self::new(409, "Conflict", message).with(named_by_kind(kind, name, &[]))
    }

    /// 422 for an object.
    pub(super) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        let mut details = named_by_kind(kind, name, causes);
        // Events are of the core to the real server, however they are written.
        if kind.group == "events.k8s.io" {
            details.as_object_mut().map(|details| details.remove("group"));
            return Self::unprocessable(&kind.kind, name, causes, details);
        }
        Self::unprocessable(&kind.qualified_kind(), name, causes, details)
    }

    /// 422 for an object that claims to be of another kind.
    pub(super) fn invalid_as(kind: &Kind, other: &str, name: &str, causes: &[Cause]) -> Self {
        let mut details = named_by_kind(kind, name, causes);
        details["kind"] = other.into();
        let other = if kind.group.is_empty() { other.to_owned() } else { format!("{other}.{}", kind.group) };
        Self::unprocessable(&other, name, causes, details)
    }

    /// 422 for an object whose type is given by its resource, as in one check of the real server.
    pub(super) fn invalid_resource(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        let mut details = details(kind, name);
        details["causes"] = causes_of(causes);
        Self::unprocessable(&kind.qualified(), name, causes, details)
    }

    /// 422 for a request's options.
    pub(super) fn options(of: &str, causes: &[Cause]) -> Self {
        let details = json!({ "group": "meta.k8s.io", "kind": of, "causes": causes_of(causes) });
        Self::unprocessable(&format!("{of}.meta.k8s.io"), "", causes, details)
    }

    /// 422 for what is asked and never stored, whose kind the real server doesn't say.
    pub(super) fn question(group: &str, causes: &[Cause]) -> Self {
        let details = json!({ "group": group, "causes": causes_of(causes) });
        Self::unprocessable(&format!(".{group}"), "", causes, details)
    }

    /// 422 for one of a request's options.
    pub(super) fn option(of: &str, field: &str, reason: &str, message: &str) -> Self {
        Self::options(of, &[(reason.to_owned(), field.to_owned(), message.to_owned())])
    }

    fn unprocessable(what: &str, name: &str, causes: &[Cause], details: Value) -> Self {
        let mut said: Vec<String> = Vec::with_capacity(causes.len());
        for (_, field, message) in causes {
            let cause = format!("{field}: {message}");
            if !said.contains(&cause) {
                said.push(cause);
            }
        }
        let said = if said.len() == 1 { said.remove(0) } else { format!("[{}]", said.join(", ")) };
        Self::new(422, "Invalid", format!("{what} \"{name}\" is invalid: {said}")).with(details)
    }

    /// 422 for a JSON patch that can't be applied, without a reason.
    pub(super) fn rejected() -> Self {
        Self::new(422, "Invalid", "the server rejected our request due to an error in our request")
            .with(json!({}))
    }

    /// If a patched object can't be read, that is an invalid patch, and not a bad request.
    pub(super) fn of_patch(self) -> Self {
        self.of_patch_as(None)
    }

    /// The same, with the patch as the message shows it.
    pub(super) fn of_patch_as(self, patch: Option<(&str, Reworded)>) -> Self {
        match self {
            Self::Status(status) if status.code == 400 => {
                // The kind is not said again.
                let kindless = status.message.split_once("cannot be handled as a ");
                let reason = kindless.and_then(|(_, rest)| rest.split_once(": ")).map(|(_, reason)| reason);
                let reason = reason.unwrap_or(&status.message);
                let message = match patch {
                    Some((patch, words)) => format!("Invalid value: {patch}: {}", words(reason)),
                    None => format!("Invalid value: {reason}"),
                };
                let causes = [("FieldValueInvalid".to_owned(), "patch".to_owned(), message)];
                let details = json!({ "causes": causes_of(&causes) });
                Self::unprocessable("", "", &causes, details)
            }
            other => other,
        }
    }

    /// 403.
    pub(super) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let quoted = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        Self::new(403, "Forbidden", format!("{}{quoted} is forbidden: {why}", kind.qualified()))
            .with(details(kind, name))
    }

    /// 403: nothing is created in a namespace that is being terminated.
    pub(super) fn terminating(kind: &Kind, name: &str, namespace: &str) -> Self {
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut failure = Self::forbidden(kind, name, &why);
        if let Self::Status(status) = &mut failure
            && let Some(details) = &mut status.details
        {
            details["causes"] = json!([{
                "reason": "NamespaceTerminating",
                "message": format!("namespace {namespace} is being terminated"),
                "field": "metadata.namespace",
            }]);
        }
        failure
    }

    /// 504: a version that doesn't exist yet.
    pub(super) fn too_large(version: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {version}, current: {current}");
        Self::new(504, "Timeout", message).with(json!({
            "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
            "retryAfterSeconds": 1,
        }))
    }

    /// 410: a version that was compacted.
    pub(super) fn expired(version: u64, expired: Expired) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {version} ({})", expired.oldest))
    }

    /// 410: the same for a list's next page, with a token that continues from the newest state.
    pub(super) fn expired_page(resume: String) -> Self {
        let mut failure = Self::new(410, "Expired", EXPIRED_PAGE);
        if let Self::Status(status) = &mut failure {
            status.resume = Some(resume);
        }
        failure
    }

    /// A refusal by [`fields`](super::fields).
    pub(super) fn of_fields(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflict(conflicts) => Self::apply_conflict(&conflicts),
            Refusal::BadRequest(message) => Self::bad_request(message),
            Refusal::Internal(message) => Self::internal(message),
        }
    }

    fn apply_conflict(conflicts: &[(String, String)]) -> Self {
        let message = apply_conflict_message(conflicts);
        let causes: Vec<Cause> = conflicts
            .iter()
            .map(|(manager, field)| {
                ("FieldManagerConflict".to_owned(), field.clone(), format!("conflict with {manager}"))
            })
            .collect();
        Self::new(409, "Conflict", message).with(json!({ "causes": causes_of(&causes) }))
    }

    /// The code of the answer.
    pub(super) fn code(&self) -> StatusCode {
        match self {
            Self::Status(status) => {
                StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }
            Self::Page => StatusCode::NOT_FOUND,
        }
    }

    /// The `Status` object; `None` for plain text.
    pub(super) fn body(&self) -> Option<Value> {
        let Self::Status(status) = self else { return None };
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": status.resume.as_ref().map_or(json!({}), |token| json!({ "continue": token })),
            "status": "Failure",
            "message": status.message,
            "code": status.code,
        });
        if !status.reason.is_empty() {
            body["reason"] = status.reason.into();
        }
        if let Some(details) = &status.details {
            body["details"] = details.clone();
        }
        Some(body)
    }
}

const EXPIRED_PAGE: &str = "The provided continue parameter is too old to display a consistent list result. You can start a \
new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or \
deleted between the time the first chunk was returned and now may show up in the list.";

/// One line for a conflict; several managers are listed each with its fields.
fn apply_conflict_message(conflicts: &[(String, String)]) -> String {
    if let [(manager, field)] = conflicts {
        return format!("Apply failed with 1 conflict: conflict with {manager}: {field}");
    }
    let mut message = format!("Apply failed with {} conflicts: ", conflicts.len());
    let mut managers: Vec<&str> = Vec::new();
    for (manager, _) in conflicts {
        if !managers.contains(&manager.as_str()) {
            managers.push(manager);
        }
    }
    let parts = managers.into_iter().map(|manager| {
        let fields = conflicts.iter().filter(|(other, _)| other == manager);
        let fields: Vec<String> = fields.map(|(_, field)| format!("\n- {field}")).collect();
        format!("conflicts with {manager}:{}", fields.concat())
    });
    message.push_str(&parts.collect::<Vec<_>>().join("\n"));
    message
}

/// Details that name the resource.
fn details(kind: &Kind, name: &str) -> Value {
    let mut details = Map::new();
    if !name.is_empty() {
        details.insert("name".to_owned(), name.into());
    }
    if !kind.group.is_empty() {
        details.insert("group".to_owned(), kind.group.clone().into());
    }
    details.insert("kind".to_owned(), kind.plural.clone().into());
    Value::Object(details)
}

/// Details that name the kind.
fn named_by_kind(kind: &Kind, name: &str, causes: &[Cause]) -> Value {
    let mut details = details(kind, name);
    details["kind"] = kind.kind.clone().into();
    if !causes.is_empty() {
        details["causes"] = causes_of(causes);
    }
    details
}

fn causes_of(causes: &[Cause]) -> Value {
    let causes = causes.iter().map(|(reason, field, message)| {
        let mut cause = json!({ "reason": reason, "message": message });
        if !field.is_empty() {
            cause["field"] = field.clone().into();
        }
        cause
    });
    causes.collect()
}
