//! What an error means for what to do next.

use std::time::Duration;

use kube::core::Status;
use serde::de::Error as _;

use super::{Error, refusal::missing_right};
use crate::{
    cache::LONGEST_RETRY_AFTER,
    client::is_end_of,
    resource::{MASKED, ResourceType},
};

/// What was tried, if it was a patch.
pub(in crate::operations) const PATCH: &str = "patch";

impl Error {
    /// Whether the same write may succeed later. An unanswered one counts as such: a run reads the state again before
    /// it writes.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { status, .. } => !matches!(status.code, 405 | 413 | 415),
            Self::Unanswered { .. }
            | Self::NotServed { .. }
            | Self::Fenced { .. }
            | Self::Contended { .. }
            | Self::Overtaken { .. }
            | Self::Gone { .. }
            | Self::OwnerGoes { .. }
            | Self::Going { .. }
            | Self::Misfit { .. }
            | Self::NamespaceTerminating { .. }
            | Self::Undecodable { .. }
            | Self::NotFetched { .. } => true,
            Self::InTheWay { refused, .. } | Self::Immutable { refused, .. } => refused.is_retryable(),
            Self::Serialize { .. }
            | Self::Unnamed { .. }
            | Self::NoNamespace { .. }
            | Self::InvalidName { .. }
            | Self::Unversioned { .. }
            | Self::OwnPrimary { .. }
            | Self::OwnField { .. }
            | Self::InvalidPatch { .. }
            | Self::PartialApply { .. }
            | Self::NotHeld { .. }
            | Self::UnknownEventSource { .. }
            | Self::NoEventSource { .. } => false,
        }
    }

    /// Whether the failure is one of the API server, or of the connection to it: no answer, 500 and above, 429, 403, a
    /// kind that isn't served; or the fence refused the write. Such a failure uses up no attempt of a run's retry.
    #[must_use]
    pub fn is_servers(&self) -> bool {
        match self {
            Self::Refused { status, .. } => is_servers(status.code),
            Self::Unanswered { .. } | Self::NotServed { .. } | Self::Fenced { .. } => true,
            Self::NotFetched { source, .. } => source.status().is_none_or(is_servers),
            _ => false,
        }
    }

    /// Whether something outside decides when the same write succeeds: it was refused with 400 or 422, as webhooks, policies,
    /// and older definitions do; the namespace is missing, or being terminated; what is applied doesn't fit the installed
    /// schema. Such a failure uses up no attempt of a run's retry either.
    pub(crate) fn is_decided_outside(&self) -> bool {
        match self {
            // A test of a patch fails without a cause: the object has another state by now.
            Self::Refused { status, .. } if status.code == 422 => !self.is_outdated(),
            Self::Refused { status, .. } if status.code == 400 => true,
            // It names an object, and another one than this: the namespace.
            Self::Refused { status, .. } => status.code == 404 && !self.is_not_found(),
            Self::InTheWay { refused, .. } | Self::Immutable { refused, .. } => refused.is_decided_outside(),
            Self::NamespaceTerminating { .. } | Self::Misfit { .. } => true,
            _ => false,
        }
    }

    /// Whether it is known that the write didn't take effect. A server that fails (5xx) may have done it before.
    pub(in crate::operations) fn tells_that_nothing_was_written(&self) -> bool {
        match self {
            Self::Refused { status, .. } => (400..500).contains(&status.code),
            Self::Unanswered { .. } | Self::Undecodable { .. } => false,
            _ => true,
        }
    }

    /// How long to wait before the next request (`Retry-After`), if the server has refused for that reason; at most
    /// five minutes. A run that fails after such a refusal is followed by no other run of its primary before that time.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let Self::Refused { status, .. } = self else { return None };
        let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        (seconds > 0).then(|| Duration::from_secs(seconds.into()).min(LONGEST_RETRY_AFTER))
    }

    /// Whether the object was changed by someone else in the meantime (409).
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if status.code == 409)
            || matches!(self, Self::Contended { .. } | Self::Overtaken { .. })
    }

    /// Whether a write of a known object was refused because there is another state of it, another object, or none:
    /// only the live state shows which of these, or whether the object is invalid (422).
    pub(crate) fn is_about_another_state(&self) -> bool {
        matches!(self.code(), Some(404 | 409 | 422))
    }

    /// Whether the server says that this very object doesn't exist: a 404 that names it. A kind that isn't served is
    /// [`NotServed`](Self::NotServed), which says nothing about the object.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status, key, .. } if is_end_of(status, key.name()))
    }

    /// Whether the primary is gone or was replaced: a run that gets this error is over, without a failure.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }

    /// Whether a write was refused only because the object has changed: a conflict, or a failed test of a JSON patch, for
    /// which the server names no cause, unlike for an invalid object.
    pub(in crate::operations) fn is_outdated(&self) -> bool {
        let Self::Refused { verb, status, .. } = self else { return false };
        status.code == 409 || (*verb == PATCH && status.code == 422 && !has_causes(status))
    }

    /// The code of the server's refusal.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(status.code),
            Self::InTheWay { refused, .. } => refused.code(),
            _ => None,
        }
    }
}

/// Whether a refusal says what is wrong with the object.
fn has_causes(status: &Status) -> bool {
    status.details.as_ref().is_some_and(|details| !details.causes.is_empty())
}

/// Whether the server says that an apply, or what it is applied to, doesn't fit the schema. Its code is that of an outage.
pub(crate) fn says_misfit(status: &Status) -> bool {
    let words = &status.message;
    status.code == 500
        && (words.starts_with("failed to create typed ")
            || words.contains("to smd typed: ")
            || words.contains("unable to convert unstructured object to "))
}

/// Whether an answer with this code is a failure of the server, not of the request. A denied right (403) has to be
/// granted by the cluster's administrator.
pub(crate) const fn is_servers(code: u16) -> bool {
    matches!(code, 403 | 429) || code >= 500
}

/// The server's refusal without what it may repeat of the object: validation messages contain the invalid value. A
/// missing right names none.
pub(super) fn masked_status(kind: &ResourceType, mut status: Box<Status>) -> Box<Status> {
    if kind.is_sensitive() && missing_right(&status.message).is_none() {
        MASKED.clone_into(&mut status.message);
        for cause in status.details.iter_mut().flat_map(|details| &mut details.causes) {
            MASKED.clone_into(&mut cause.message);
        }
    }
    status
}

/// The decoder's error without what it may repeat of the object.
pub(in crate::operations) fn masked(kind: &ResourceType, error: serde_json::Error) -> serde_json::Error {
    if kind.is_sensitive() { serde_json::Error::custom(MASKED) } else { error }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;
    use crate::{
        client::Closed,
        resource::{ObjectKey, ResourceType},
    };

    fn kind() -> ResourceType {
        ResourceType::of::<ConfigMap>()
    }

    fn refused(status: serde_json::Value) -> Error {
        refused_to(PATCH, status)
    }

    fn refused_to(verb: &'static str, status: serde_json::Value) -> Error {
        let status = serde_json::from_value(status).expect("a status");
        Error::refused(verb, kind(), ObjectKey::namespaced("shop", "one"), Box::new(status))
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
    fn what_something_outside_decides_is_told_from_an_outage_and_from_what_only_the_code_can_change() {
        let meant = |status: serde_json::Value| {
            let error = refused_to("apply", status);
            (error.is_servers(), error.is_decided_outside(), error.is_retryable())
        };
        let (server, outside) = ((true, false, true), (false, true, true));
        assert_eq!(meant(json!({ "code": 400 })), outside);
        assert_eq!(meant(json!({ "code": 403 })), server);
        assert_eq!(meant(json!({ "code": 404, "details": { "name": "shop" } })), outside);
        assert_eq!(meant(json!({ "code": 404, "details": { "name": "one" } })), (false, false, true));
        assert_eq!(meant(json!({ "code": 409 })), (false, false, true));
        assert_eq!(meant(json!({ "code": 413 })), (false, false, false));
        assert_eq!(meant(json!({ "code": 422 })), outside);
        assert_eq!(meant(json!({ "code": 500, "message": "etcdserver: request timed out" })), server);
        for misfit in [
            "failed to create typed patch object (shop/one; v1, Kind=ConfigMap): .a: field not declared in schema",
            "failed to create typed live object (shop/one; v1, Kind=Page): .spec.a: expected string, got &{1}",
        ] {
            assert_eq!(meant(json!({ "code": 500, "message": misfit })), outside, "{misfit}");
        }
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
    fn only_a_404_that_names_the_object_is_its_end() {
        let named = |name: &str| {
            refused(json!({ "code": 404, "reason": "NotFound", "message": "…", "details": { "name": name } }))
        };
        assert!(named("one").is_not_found());
        assert!(!named("shop").is_not_found(), "the namespace is missing");
        let nameless = refused(json!({ "code": 404, "message": "page not found" }));
        assert!(matches!(nameless, Error::NotServed { .. }) && nameless.is_retryable());
        assert!(!nameless.is_not_found() && !nameless.is_about_another_state());
        assert!(matches!(named(""), Error::NotServed { .. }));
    }

    #[test]
    fn a_failed_test_is_told_from_an_invalid_object() {
        let invalid = json!({ "causes": [{ "reason": "FieldValueInvalid", "field": "spec" }] });
        assert!(refused(json!({ "code": 422 })).is_outdated());
        assert!(
            !refused(json!({ "code": 422 })).is_decided_outside(),
            "the object may have another state later"
        );
        assert!(refused(json!({ "code": 422, "details": invalid })).is_decided_outside());
        assert!(refused_to("apply", json!({ "code": 422 })).is_decided_outside());
        assert!(!refused_to("apply", json!({ "code": 422 })).is_outdated());
        assert!(!refused(json!({ "code": 422, "details": invalid })).is_outdated());
        assert!(refused(json!({ "code": 409 })).is_outdated());
    }

    fn shown(kind: &ResourceType) -> String {
        let refusal = Status::failure("Invalid value: \"hunter2\"", "Invalid").boxed();
        let undecodable = serde_json::from_str::<u8>("\"hunter2\"").expect_err("a string is no number");
        format!("{:?} {}", masked_status(kind, refusal), masked(kind, undecodable))
    }

    #[test]
    fn values_of_secrets_are_not_shown() {
        assert!(shown(&ResourceType::of::<ConfigMap>()).contains("hunter2"));
        assert!(!shown(&ResourceType::of::<Secret>()).contains("hunter2"));
    }
}
