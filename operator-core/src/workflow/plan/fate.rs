//! The outcome of a node.

use crate::workflow::NodeId;

/// What a run did about a node, or the reason why it did nothing. Every node has one.
///
/// JOSDK: the content of `WorkflowResult` for a node. There a node that was never reached is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The run hasn't reached it yet. After the end no node has it.
    Pending,
    /// Reconciled, and ready.
    Ready,
    /// Reconciled, but its condition `ready` is not met.
    NotReady,
    /// A condition, or reconciling it, has failed.
    Failed,
    /// Its condition `needs` is not met, and there was nothing to do about the node itself.
    Inactive,
    /// Its function leaves it unchanged.
    Held,
    /// It isn't known yet whether it should run; it is left unchanged.
    Waiting,
    /// Left unchanged because of something that it depends on.
    Blocked {
        /// The nearest node that it depends on and that has a reason of its own; of several equally near ones the one
        /// that is declared first.
        by: NodeId,
        /// That reason.
        because: Obstacle,
    },
    /// Deleted, and its condition `gone` is met.
    Gone,
    /// Deleted, but the deletion isn't complete, or its condition `gone` is not met yet.
    Deleting,
    /// Deleting it, or a condition of that, has failed.
    DeleteFailed,
    /// It should be deleted, but something that depends on it has to be deleted first, or stays.
    RemovalBlocked {
        /// The nearest node that depends on it and has a reason of its own; of several equally near ones the one that
        /// is declared first.
        by: NodeId,
        /// That reason.
        because: RemovalObstacle,
    },
}

/// Why nothing that depends on a node is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// The node is [`Fate::NotReady`].
    NotReady,
    /// The node is [`Fate::Failed`].
    Failed,
    /// The node is [`Fate::Held`].
    Held,
    /// The node is [`Fate::Waiting`].
    Waiting,
}

/// Why nothing that a node depends on is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RemovalObstacle {
    /// The node is [`Fate::Deleting`].
    Deleting,
    /// The node is [`Fate::DeleteFailed`].
    DeleteFailed,
    /// The node is [`Fate::Held`].
    Held,
    /// The node is [`Fate::Waiting`].
    Waiting,
    /// The node is [`Fate::Failed`].
    Failed,
}

impl Fate {
    /// Whether nothing is left of the node, as far as the workflow is concerned: what it depends on may be deleted.
    #[must_use]
    pub const fn is_removed(self) -> bool {
        matches!(self, Self::Gone | Self::Inactive)
    }

    /// Whether it should not exist, whatever the outcome.
    #[must_use]
    pub const fn is_about_removal(self) -> bool {
        matches!(self, Self::Gone | Self::Deleting | Self::DeleteFailed | Self::RemovalBlocked { .. })
    }

    /// The other node because of which nothing was done about this one, if there is one.
    #[must_use]
    pub const fn blocked_by(self) -> Option<NodeId> {
        match self {
            Self::Blocked { by, .. } | Self::RemovalBlocked { by, .. } => Some(by),
            _ => None,
        }
    }

    /// What a node with this fate means for those that depend on it.
    pub(super) const fn obstacle(self) -> Option<Obstacle> {
        match self {
            Self::NotReady => Some(Obstacle::NotReady),
            Self::Failed => Some(Obstacle::Failed),
            Self::Held => Some(Obstacle::Held),
            Self::Waiting => Some(Obstacle::Waiting),
            _ => None,
        }
    }

    /// What a node with this fate means for the deletion of those that it depends on.
    pub(super) const fn removal_obstacle(self) -> Option<RemovalObstacle> {
        match self {
            Self::Deleting => Some(RemovalObstacle::Deleting),
            Self::DeleteFailed => Some(RemovalObstacle::DeleteFailed),
            Self::Held => Some(RemovalObstacle::Held),
            Self::Waiting => Some(RemovalObstacle::Waiting),
            Self::Failed => Some(RemovalObstacle::Failed),
            _ => None,
        }
    }
}
