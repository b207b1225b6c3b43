//! What can go wrong with a write.

use std::{error::Error as StdError, time::Duration};

use kube::core::Status;

use super::{mask, request::Verb};
use crate::{
    cache::LONGEST_RETRY_AFTER,
    client::Closed,
    resource::{ObjectKey, ResourceType},
};

/// An error of this module. What it shows never contains a value of a Secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server answered, and refused.
    #[error("{kind} {key}: the api server refused to {verb} it: {} ({} {})", status.message, status.code, status.reason)]
    Refused {
        /// What was tried, for example `apply`.
        verb: &'static str,
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The server's answer.
        status: Box<Status>,
    },
    /// There was no answer, or half of one: what became of the write is unknown.
    #[error("{kind} {key}: no answer to the attempt to {verb} it, so its outcome is unknown")]
    Unanswered {
        /// What was tried.
        verb: &'static str,
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// What happened instead of an answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// The operator has stopped, or doesn't lead any more: the write was not sent. Whatever holds on to a context after that
    /// can't write any more.
    #[error(
        "{kind} {key}: not sent, because the operator has stopped or doesn't lead; end the work when its run is dropped"
    )]
    Fenced {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// The object's namespace is about to go: nothing can be created in it any more, before there is another one of that
    /// name. A run whose primary is in that namespace, and is about to go as well, is not retried.
    #[error(
        "{kind} {key}: its namespace is being terminated, so nothing can be created in it; what is in it, a primary as well, is about to go"
    )]
    NamespaceTerminating {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// The object is gone, or another one has taken its name: what was known of it means nothing any more.
    #[error("{kind} {key} is gone, or was replaced by another object of that name; the run is over")]
    Gone {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// Others write the object so often that no state of it stayed long enough to be written upon.
    #[error("{kind} {key}: still in conflict with other writers after {attempts} attempts")]
    Contended {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// How many states of it were tried.
        attempts: u32,
    },
    /// An object can't be written as JSON.
    #[error("{kind} cannot be serialized")]
    Serialize {
        /// The object's type.
        kind: ResourceType,
        /// What serde says.
        #[source]
        source: serde_json::Error,
    },
    /// The server's answer is no object of the expected type.
    #[error("{kind} {key}: the api server's answer cannot be read")]
    Undecodable {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// What serde says.
        #[source]
        source: serde_json::Error,
    },
    /// An object without a name can't be written.
    #[error(
        "a {kind} without `metadata.name` cannot be written; give it a name that follows from its primary's"
    )]
    Unnamed {
        /// The object's type.
        kind: ResourceType,
    },
    /// A namespaced object without a namespace can't be written.
    #[error("{kind} {name} has no `metadata.namespace`; give it the primary's, or the one it belongs to")]
    NoNamespace {
        /// The object's type.
        kind: ResourceType,
        /// The object's name.
        name: String,
    },
    /// The name can't stand in a URL, and so can't be one that the server accepts.
    #[error("{kind} {key}: not a valid object name; use lower-case letters, digits, `-` and `.`")]
    InvalidName {
        /// The object's type.
        kind: ResourceType,
        /// The name as it was given.
        key: ObjectKey,
    },
    /// A replacement without the version it was made from would silently undo what others have changed since.
    #[error(
        "{kind} {key}: an update needs the `metadata.resourceVersion` of the state it was made from; take it from the cached object"
    )]
    Unversioned {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// A run can't create the primary that it is about: it exists, or it was deleted and must not come back.
    #[error("{kind} {key} is the run's own primary, which can't be created; apply or patch it instead")]
    OwnPrimary {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// A merge patch must look like the object that it changes.
    #[error(
        "{kind} {key}: a merge patch must be a json object, and so must its `metadata`, for example `{{ \"spec\": {{ … }} }}`"
    )]
    InvalidPatch {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// The controller has no event source of that name for such objects.
    #[error(
        "the controller has no event source `{name}` for {kind}; declare one with `.watches(InformerEventSource::<{kind}>::new().name(\"{name}\"))`"
    )]
    UnknownEventSource {
        /// The name.
        name: String,
        /// The object's type.
        kind: String,
    },
    /// The controller doesn't watch such objects, so that it would neither see its own writes nor find any.
    #[error(
        "the controller has no event source for {kind}; declare one with `.owns::<{kind}>()` or `.watches(…)`"
    )]
    NoEventSource {
        /// The object's type.
        kind: String,
    },
}

impl Error {
    pub(super) fn refused(
        verb: &'static str,
        kind: ResourceType,
        key: ObjectKey,
        status: Box<Status>,
    ) -> Self {
        let causes = || status.details.iter().flat_map(|details| &details.causes);
        if status.code == 403 && causes().any(|cause| cause.reason == "NamespaceTerminating") {
            return Self::NamespaceTerminating { kind, key };
        }
        let status = mask::status(&kind, status);
        Self::Refused { verb, kind, key, status }
    }

    pub(super) fn unanswered(
        verb: &'static str,
        kind: ResourceType,
        key: ObjectKey,
        source: Box<kube::Error>,
    ) -> Self {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*source);
        while let Some(error) = cause {
            if error.is::<Closed>() {
                return Self::Fenced { kind, key };
            }
            cause = error.source();
        }
        Self::Unanswered { verb, kind, key, source }
    }

    pub(super) fn undecodable(kind: ResourceType, key: ObjectKey, source: serde_json::Error) -> Self {
        let source = mask::json(&kind, source);
        Self::Undecodable { kind, key, source }
    }

    /// Whether the same write may succeed later. An unanswered one counts as such: a run looks at the state again
    /// before it writes.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { status, .. } => !matches!(status.code, 400 | 405 | 413 | 415 | 422),
            Self::Unanswered { .. }
            | Self::Fenced { .. }
            | Self::Contended { .. }
            | Self::Gone { .. }
            | Self::NamespaceTerminating { .. }
            | Self::Undecodable { .. } => true,
            Self::Serialize { .. }
            | Self::Unnamed { .. }
            | Self::NoNamespace { .. }
            | Self::InvalidName { .. }
            | Self::Unversioned { .. }
            | Self::OwnPrimary { .. }
            | Self::InvalidPatch { .. }
            | Self::UnknownEventSource { .. }
            | Self::NoEventSource { .. } => false,
        }
    }

    /// Whether it is known that the write didn't take effect. A server that fails (5xx) may have done it before.
    pub(super) fn tells_that_nothing_was_written(&self) -> bool {
        match self {
            Self::Refused { status, .. } => (400..500).contains(&status.code),
            Self::Unanswered { .. } | Self::Undecodable { .. } => false,
            _ => true,
        }
    }

    /// How long the server wants to be left alone (`Retry-After`), where it has refused for that reason; five minutes at
    /// most. A run that fails after such a refusal is followed by no other run of its primary before that time.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let Self::Refused { status, .. } = self else { return None };
        let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        (seconds > 0).then(|| Duration::from_secs(seconds.into()).min(LONGEST_RETRY_AFTER))
    }

    /// Whether the object was changed by somebody else in the meantime (409).
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if status.code == 409)
            || matches!(self, Self::Contended { .. })
    }

    /// Whether a write of a known object was refused because there is another state of it, another object, or none: which of
    /// these, or whether the object is invalid (422), only the live state tells.
    pub(crate) fn is_about_another_state(&self) -> bool {
        matches!(self.code(), Some(404 | 409 | 422))
    }

    /// Whether the object doesn't exist (404).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if status.code == 404)
    }

    /// Whether the primary is gone or was replaced: a run that meets this is over, without an error.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }

    /// Whether a write of this type was refused only because the object has changed: a conflict, or a failed test of a JSON
    /// patch, which the server answers without a cause, unlike an object that is invalid.
    pub(super) fn is_outdated(&self, verb: Verb) -> bool {
        let Self::Refused { status, .. } = self else { return false };
        let causes = status.details.as_ref().map_or(0, |details| details.causes.len());
        status.code == 409 || (verb == Verb::JsonPatch && status.code == 422 && causes == 0)
    }

    /// The code of the server's refusal.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(status.code),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    fn kind() -> ResourceType {
        ResourceType::of::<ConfigMap>()
    }

    fn refused(status: serde_json::Value) -> Error {
        let status = serde_json::from_value(status).expect("a status");
        Error::refused("patch", kind(), ObjectKey::namespaced("shop", "one"), Box::new(status))
    }

    #[test]
    fn what_the_fence_holds_back_is_told_from_what_was_not_answered() {
        let unanswered = |source| {
            Error::unanswered("patch", kind(), ObjectKey::namespaced("shop", "one"), Box::new(source))
        };
        assert!(matches!(unanswered(kube::Error::Service(Box::new(Closed::Stopped))), Error::Fenced { .. }));
        let reset = std::io::Error::other("connection reset");
        assert!(matches!(unanswered(kube::Error::Service(Box::new(reset))), Error::Unanswered { .. }));
    }

    #[test]
    fn a_namespace_that_ends_is_told_from_a_missing_right() {
        let causes = json!({ "causes": [{ "reason": "NamespaceTerminating", "message": "…" }] });
        let ending = refused(json!({ "code": 403, "reason": "Forbidden", "details": causes }));
        assert!(matches!(ending, Error::NamespaceTerminating { .. }) && ending.is_retryable());
        assert!(matches!(refused(json!({ "code": 403, "reason": "Forbidden" })), Error::Refused { .. }));
    }

    #[test]
    fn the_server_may_ask_for_patience_within_reason() {
        let asks =
            |seconds: u32| refused(json!({ "code": 429, "details": { "retryAfterSeconds": seconds } }));
        assert_eq!(asks(30).retry_after(), Some(Duration::from_secs(30)));
        assert_eq!(asks(86_400).retry_after(), Some(Duration::from_secs(300)));
        assert_eq!(asks(0).retry_after(), None);
        assert_eq!(refused(json!({ "code": 409 })).retry_after(), None);
    }

    #[test]
    fn a_failed_test_is_told_from_an_invalid_object() {
        let invalid = json!({ "causes": [{ "reason": "FieldValueInvalid", "field": "spec" }] });
        assert!(refused(json!({ "code": 422 })).is_outdated(Verb::JsonPatch));
        assert!(!refused(json!({ "code": 422 })).is_outdated(Verb::Apply));
        assert!(!refused(json!({ "code": 422, "details": invalid })).is_outdated(Verb::JsonPatch));
        assert!(refused(json!({ "code": 409 })).is_outdated(Verb::Apply));
    }
}
