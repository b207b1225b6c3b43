//! What can go wrong with a dependent.

use crate::{
    operations,
    resource::{ObjectKey, ResourceType},
};

/// An error of this module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The resource exists and belongs to somebody else.
    #[error(
        "{kind} {key} exists already and is not ours: {owner}; delete it, or give the dependent another name"
    )]
    Conflict {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// Whose it is, as far as it says so.
        owner: String,
    },
    /// An owner reference that the cluster wouldn't understand.
    #[error("{kind} {key} can't be owned by {owner}: {reason}")]
    IllegalOwner {
        /// The type of the dependent's resource.
        kind: ResourceType,
        /// The resource.
        key: ObjectKey,
        /// The primary.
        owner: ObjectKey,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// The primary was not read from a cluster.
    #[error("the primary {0} has no uid, so nothing can be owned by it")]
    NoUid(ObjectKey),
    /// There is no such event source.
    #[error(
        "dependent `{dependent}` is remembered by the event source `{event_source}`, and the controller has none of that name for its type"
    )]
    UnknownEventSource {
        /// The dependent.
        dependent: String,
        /// The event source.
        event_source: String,
    },
    /// A write failed.
    #[error(transparent)]
    Write(#[from] operations::Error),
}

impl Error {
    /// Whether trying again can help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            // Somebody may delete what is in the way.
            Self::Conflict { .. } => true,
            Self::IllegalOwner { .. } | Self::NoUid(_) | Self::UnknownEventSource { .. } => false,
            Self::Write(error) => error.is_retryable(),
        }
    }
}
