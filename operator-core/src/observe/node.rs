//! What becomes of a node of a workflow. It stands here because observers are told of it; everybody else knows it by
//! [`crate::workflow`].

use std::{fmt, sync::Arc};

/// What a dependent did to a resource. JOSDK's `ReconcileResult.Operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Operation {
    /// It didn't exist, and was created.
    Created,
    /// It was not as desired, and was changed.
    Updated,
    /// It was found as desired, or is only read.
    #[default]
    Matched,
    /// It was deleted: one of several, which is not desired any more.
    Deleted,
}

impl Operation {
    /// The word for it in results and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Matched => "matched",
            Self::Deleted => "deleted",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What became of a node in one run. Every node has one, also those that were never reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeState {
    /// Reconciled, and ready if it has a condition for that.
    Ready(Operation),
    /// Reconciled, but not ready.
    NotReady {
        /// What was done.
        operation: Operation,
        /// Why it is not ready.
        reason: String,
    },
    /// Not run this time: whether it is to run can't be said yet.
    Waiting {
        /// What it waits for, for example `informer of Route is syncing`.
        reason: String,
    },
    /// The run was dropped before the node came to an end, at its deadline or as the operator stopped.
    Pending {
        /// How far it was, for example `dependent called 28 s ago`.
        reason: String,
    },
    /// Not run, or not deleted, this time: another node has to come first.
    Blocked {
        /// The node that it waits for; the nearest one with a reason of its own.
        by: Arc<str>,
        /// What that node has to do, for example `to be ready: 1/3 replicas`.
        reason: String,
    },
    /// Takes no part for this primary.
    Inactive {
        /// Why.
        reason: String,
    },
    /// Its gate holds it: what exists stays as it is.
    Held {
        /// Why.
        reason: String,
    },
    /// Deleted, and gone.
    Deleted,
    /// Not to be there, and not deleted: that is not its dependent's business.
    Left {
        /// Whose it is, for example `to the garbage collector`.
        reason: &'static str,
    },
    /// Deleted, but not gone yet.
    Deleting {
        /// What is waited for.
        reason: String,
    },
    /// It, or one of its conditions, failed.
    Failed {
        /// What went wrong, with its causes.
        error: String,
    },
}

impl NodeState {
    /// The first word of what it says: for labels and JSON.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Ready(operation) => operation.as_str(),
            Self::NotReady { .. } => "not ready",
            Self::Waiting { .. } | Self::Blocked { .. } => "waiting",
            Self::Pending { .. } => "pending",
            Self::Inactive { .. } => "inactive",
            Self::Held { .. } => "held",
            Self::Deleted => "deleted",
            Self::Left { .. } => "left",
            Self::Deleting { .. } => "deleting",
            Self::Failed { .. } => "failed",
        }
    }

    /// Why; empty where the state says all.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Ready(_) | Self::Deleted => "",
            Self::Left { reason } => reason,
            Self::NotReady { reason, .. }
            | Self::Waiting { reason }
            | Self::Pending { reason }
            | Self::Blocked { reason, .. }
            | Self::Inactive { reason }
            | Self::Held { reason }
            | Self::Deleting { reason }
            | Self::Failed { error: reason } => reason,
        }
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(operation) => write!(f, "{operation}"),
            Self::NotReady { operation, reason } => write!(f, "{operation}, not ready: {reason}"),
            Self::Waiting { reason } => write!(f, "waiting: {reason}"),
            Self::Pending { reason } => write!(f, "pending: {reason}"),
            Self::Blocked { by, reason } => write!(f, "waiting for {by} {reason}"),
            Self::Left { reason } => write!(f, "left {reason}"),
            Self::Inactive { reason } => write!(f, "inactive: {reason}"),
            Self::Held { reason } => write!(f, "held: {reason}"),
            Self::Deleted => f.write_str("deleted"),
            Self::Deleting { reason } => write!(f, "deleting: {reason}"),
            Self::Failed { error } => write!(f, "failed: {error}"),
        }
    }
}
