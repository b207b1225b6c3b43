//! The outcome of a node of a workflow. It is defined here because it is reported to observers; other code uses it
//! through [`crate::workflow`].

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
    /// It was deleted: one of several resources, which is no longer desired.
    Deleted,
}

impl Operation {
    /// Its name in results and logs.
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

/// The outcome of a node in one run. Every node has one, even if it was never reached.
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
    /// Not run this time: whether it should run can't be determined yet.
    Waiting {
        /// What it waits for, for example `informer of Route is syncing`.
        reason: String,
    },
    /// The run was dropped before the node came to an end, at its deadline or because the operator stopped.
    Pending {
        /// How far it got, for example `dependent called 28 s ago`.
        reason: String,
    },
    /// Not run, or not deleted, this time: it waits for another node.
    Blocked {
        /// The node that it waits for; the nearest one with its own reason.
        by: Arc<str>,
        /// What that node waits for, for example `to be ready: 1/3 replicas`.
        reason: String,
    },
    /// Not made for the first time yet: it hasn't started.
    Starting {
        /// The node that has to be ready; the nearest one with its own reason. `None` if a function says so.
        by: Option<Arc<str>>,
        /// For what it waits, for example `database: 0/1 replicas ready`.
        reason: String,
    },
    /// Takes no part for this primary.
    Inactive {
        /// Why.
        reason: String,
    },
    /// Its gate holds it: existing objects are left unchanged.
    Held {
        /// Why.
        reason: String,
    },
    /// Deleted, and gone.
    Deleted,
    /// It should not exist, and isn't deleted: its dependent isn't responsible for that.
    Left {
        /// The one that deletes it instead, for example `to the garbage collector`.
        reason: &'static str,
    },
    /// Deleted, but not gone yet.
    Deleting {
        /// What it waits for.
        reason: String,
    },
    /// It, or one of its conditions, failed.
    Failed {
        /// What went wrong, with its causes.
        error: String,
    },
}

impl NodeState {
    /// The first word of its text: for labels and JSON.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Ready(operation) => operation.as_str(),
            Self::NotReady { .. } => "not ready",
            Self::Waiting { .. } | Self::Blocked { .. } | Self::Starting { .. } => "waiting",
            Self::Pending { .. } => "pending",
            Self::Inactive { .. } => "inactive",
            Self::Held { .. } => "held",
            Self::Deleted => "deleted",
            Self::Left { .. } => "left",
            Self::Deleting { .. } => "deleting",
            Self::Failed { .. } => "failed",
        }
    }

    /// Why; empty if the state needs no reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Ready(_) | Self::Deleted => "",
            Self::Left { reason } => reason,
            Self::NotReady { reason, .. }
            | Self::Waiting { reason }
            | Self::Pending { reason }
            | Self::Blocked { reason, .. }
            | Self::Starting { reason, .. }
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
            Self::Starting { reason, .. } => write!(f, "waiting to start: {reason}"),
            Self::Left { reason } => write!(f, "left {reason}"),
            Self::Inactive { reason } => write!(f, "inactive: {reason}"),
            Self::Held { reason } => write!(f, "held: {reason}"),
            Self::Deleted => f.write_str("deleted"),
            Self::Deleting { reason } => write!(f, "deleting: {reason}"),
            Self::Failed { error } => write!(f, "failed: {error}"),
        }
    }
}
