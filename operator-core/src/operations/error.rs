//! What can go wrong with a write.

use kube::core::Status;

use crate::resource::{ObjectKey, ResourceType};

/// An error of this module.
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
    /// The object is gone, or another one has taken its name: what was known of it means nothing any more.
    #[error("{kind} {key} is gone, or was replaced by another object of that name")]
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
    /// The controller doesn't watch such objects, so that it would not see its own writes.
    #[error(
        "the controller has no event source for {kind}; declare one with `.owns::<{kind}>()` or `.watches(…)`"
    )]
    NoEventSource {
        /// The object's type.
        kind: String,
    },
}

impl Error {
    /// Whether the same write may succeed later. An unanswered one counts as such: a run looks at the state again
    /// before it writes.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { status, .. } => !matches!(status.code, 400 | 405 | 413 | 415 | 422),
            Self::Unanswered { .. }
            | Self::Contended { .. }
            | Self::Gone { .. }
            | Self::Undecodable { .. } => true,
            Self::Serialize { .. }
            | Self::Unnamed { .. }
            | Self::NoNamespace { .. }
            | Self::InvalidName { .. }
            | Self::Unversioned { .. }
            | Self::NoEventSource { .. } => false,
        }
    }

    /// Whether the object was changed by somebody else in the meantime (409).
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if status.code == 409)
            || matches!(self, Self::Contended { .. })
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

    /// The code of the server's refusal.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(status.code),
            _ => None,
        }
    }
}
