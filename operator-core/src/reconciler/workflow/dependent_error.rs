//! The errors of a dependent, known as `dependent::Error`. They are defined here because a workflow's error has to
//! determine whether its nodes' errors are worth another attempt.

use std::{error::Error as StdError, sync::Arc};

use super::Adoption;

use crate::{
    observe::error_chain,
    operations,
    processor::FailureKind,
    reconciler::{
        BoxError,
        failure_kind::{kind_of, of_operation, of_several},
    },
    resource::{ObjectKey, ResourceType},
};

/// An error of a dependent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DependentError {
    /// The resource exists and belongs to another owner.
    #[error(
        "{kind} {key} exists already, and {owner}; delete it, give it another name in the desired state, or take it over with `.adopt({advice})`"
    )]
    Conflict {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The owner, as far as it is known.
        owner: String,
        /// The policy under which it would be taken over.
        advice: Adoption,
    },
    /// The object belongs to an earlier incarnation of the primary, and the garbage collector is about to delete it.
    #[error(
        "{kind} {key} belongs to an earlier incarnation of the primary, and is about to be collected; it is created again then"
    )]
    Going {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// An owner reference that would not be valid in the cluster.
    #[error("{kind} {key} can't be owned by {owner}: {reason}")]
    IllegalOwner {
        /// The type of the dependent's resource.
        kind: ResourceType,
        /// The resource.
        key: ObjectKey,
        /// The primary.
        owner: ObjectKey,
        /// The reason, and what to do instead.
        reason: &'static str,
    },
    /// The primary was not read from a cluster.
    #[error("the primary {0} has no uid, so nothing can be owned by it")]
    NoUid(ObjectKey),
    /// There is no such event source.
    #[error(
        "dependent `{dependent}` is remembered by the event source `{event_source}`, but the controller has none with that name for its type"
    )]
    UnknownEventSource {
        /// The dependent.
        dependent: String,
        /// The event source.
        event_source: String,
    },
    /// The object would be outside what its event source watches, so its state would not be known.
    #[error(
        "{kind} {key} is in a namespace that the event source `{source_name}` doesn't watch; give the dependent an informer that does: `.informer(InformerEventSource::new().namespaces(…))`"
    )]
    NotWatched {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The event source.
        source_name: Arc<str>,
    },
    /// The object is in a namespace that its event source has not synced yet: its definition is missing, or a right is.
    #[error("{kind} {key} is in a namespace that the event source `{source_name}` has not seen yet")]
    NotSynced {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The event source.
        source_name: Arc<str>,
    },
    /// A primary has several objects, and none of them is selected.
    #[error(
        "{primary} has several objects of kind {kind}; say which one is meant, by `Read::named(…)` or `Read::key(…)`"
    )]
    Ambiguous {
        /// Their type.
        kind: ResourceType,
        /// The primary.
        primary: ObjectKey,
    },
    /// A bulk dependent wants two objects with the same name.
    #[error("{kind} {key} is desired twice; give each one its own name")]
    DesiredTwice {
        /// Their type.
        kind: ResourceType,
        /// Their key.
        key: ObjectKey,
    },
    /// A function has returned an object of another kind than its node's.
    #[error(
        "`{node}` is a node of {kind:?}, but the object it returns is of {answered}; both must be of the same kind"
    )]
    AnotherKind {
        /// The kind given to `.kind(…)`.
        kind: ResourceType,
        /// The node.
        node: String,
        /// Version and kind of the object.
        answered: String,
    },
    /// A wanted object lacks a name or namespace that can't be derived.
    #[error("node `{node}` wants a {kind} that is not named as a whole: {why}")]
    Unnamed {
        /// Its type.
        kind: ResourceType,
        /// The node that wants it.
        node: String,
        /// What is missing.
        why: &'static str,
    },
    /// Items of a bulk dependent failed; each with its key. Everything else was done.
    #[error("{}", items(failed, *of))]
    Items {
        /// What failed, and why.
        failed: Vec<(String, Arc<BoxError>)>,
        /// The number of all items.
        of: usize,
    },
    /// A dependent that is only read was asked for its desired state.
    #[error("the dependent is read-only, so it has no desired state")]
    NothingDesired,
    /// A write failed.
    #[error(transparent)]
    Write(#[from] operations::Error),
}

impl DependentError {
    /// As an error of user code or the framework: an error of a write is not wrapped in another one.
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::Write(error) => Box::new(error),
            other => Box::new(other),
        }
    }

    /// Whether a retry can help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.failure_kind() != FailureKind::Permanent
    }

    /// The kind of the failure.
    pub(crate) fn failure_kind(&self) -> FailureKind {
        match self {
            // Somebody may delete what is in the way, or too much.
            Self::Conflict { .. } | Self::Ambiguous { .. } => FailureKind::Retryable,
            // It comes with a right or a definition, and nothing of this primary's changes then. What is collected takes its time.
            Self::NotSynced { .. } | Self::Going { .. } => FailureKind::Server,
            Self::Items { failed, .. } => {
                of_several(failed.iter().map(|(_, error)| kind_in_workflow(&***error)))
            }
            Self::IllegalOwner { .. }
            | Self::NoUid(_)
            | Self::UnknownEventSource { .. }
            | Self::NotWatched { .. }
            | Self::DesiredTwice { .. }
            | Self::AnotherKind { .. }
            | Self::Unnamed { .. }
            | Self::NothingDesired => FailureKind::Permanent,
            Self::Write(error) => of_operation(error),
        }
    }
}

/// The kind of the error of a node or an item: one of user code, unless it is a known error of the framework or of
/// kube.
pub(super) fn kind_in_workflow(error: &(dyn StdError + 'static)) -> FailureKind {
    kind_of(error).unwrap_or(FailureKind::Retryable)
}

fn items(failed: &[(String, Arc<BoxError>)], of: usize) -> String {
    let failures: Vec<_> =
        failed.iter().map(|(key, error)| format!("{key}: {}", error_chain(&***error))).collect();
    format!("{} of {of} items failed: {}", failed.len(), failures.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_items_are_named_and_one_that_may_be_retried_is_enough() {
        let never = || Arc::new(BoxError::from(DependentError::NothingDesired));
        let error = DependentError::Items { failed: vec![("a".to_owned(), never())], of: 3 };
        assert!(!error.is_retryable());
        assert!(error.to_string().starts_with("1 of 3 items failed: a: the dependent is read-only"));
        let failed = vec![("a".to_owned(), never()), ("b".to_owned(), Arc::new("no room".into()))];
        assert!(DependentError::Items { failed, of: 3 }.is_retryable());
    }
}
