//! Who owns which field, and what an object looks like after a write: server-side apply, managed fields, defaults.
//!
//! Pure. The server around it knows paths, versions and deletion; this module knows the kinds' schemas.

#![expect(dead_code, reason = "the server that uses this comes next")]

use jiff::Timestamp;
use kube::core::GroupVersionKind;
use serde_json::Value;

/// Why a write is refused; the server makes a `Status` of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// 409: others own what an apply would change. Manager (as the server names it) and field path of each conflict.
    Conflict(Vec<(String, String)>),
    /// 422: message, and the causes as (reason, field, message).
    Invalid(String, Vec<(String, String, String)>),
    /// 400.
    BadRequest(String),
    /// 501: the feature that this server doesn't have.
    NotModelled(String),
}

/// Which endpoint is written: each has fields that it doesn't change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// The object itself.
    Main,
    /// Its status subresource.
    Status,
}

/// What is known of one served version of a kind. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Schema(GroupVersionKind);

/// The circumstances of a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write<'a> {
    /// The kind.
    pub(super) schema: &'a Schema,
    /// The endpoint.
    pub(super) endpoint: Endpoint,
    /// The field manager.
    pub(super) manager: &'a str,
    /// When.
    pub(super) time: Timestamp,
}

impl Schema {
    /// A kind of Kubernetes itself; `None` for one whose types are not recorded.
    pub(super) fn builtin(_kind: &GroupVersionKind) -> Option<Self> {
        None
    }

    /// A custom kind, by the `openAPIV3Schema` of its definition.
    pub(super) fn custom(
        kind: GroupVersionKind,
        _has_status: bool,
        _schema: &Value,
    ) -> Result<Self, Refusal> {
        Err(Refusal::NotModelled(format!("the schema of {}", kind.kind)))
    }

    /// A body as the server reads it: in the form that Go gives it, unknown fields dropped, defaults filled in.
    pub(super) fn read(&self, _object: Value) -> Result<Value, Refusal> {
        Err(Refusal::NotModelled("reading bodies".to_owned()))
    }

    /// Whether a write from `old` to `new` is one that counts up `metadata.generation`.
    pub(super) fn changes_generation(&self, old: &Value, new: &Value) -> bool {
        old.get("spec") != new.get("spec")
    }
}

/// Server-side apply. `applied` is the body as it came; the answer is the object to be stored, with managed fields, but
/// for what the server counts: resourceVersion, generation, and uid and creationTimestamp of a new object.
pub(super) fn apply(
    _write: &Write<'_>,
    _live: Option<&Value>,
    _applied: Value,
    _force: bool,
) -> Result<Value, Refusal> {
    Err(Refusal::NotModelled("server-side apply".to_owned()))
}

/// Any other write. `new` is the whole object as the request wants it: a body, or the live object after a patch.
pub(super) fn change(_write: &Write<'_>, _live: Option<&Value>, _new: Value) -> Result<Value, Refusal> {
    Err(Refusal::NotModelled("writes".to_owned()))
}

/// Whether a write changes nothing, so that the resourceVersion stays: times of managed fields don't count.
pub(super) fn is_same(live: &Value, new: &Value) -> bool {
    live == new
}
