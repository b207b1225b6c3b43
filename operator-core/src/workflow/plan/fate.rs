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
    /// Its condition `needs` is not met: it takes no part, and nothing was done about it.
    Inactive,
    /// Its function leaves it unchanged.
    Held,
    /// It waits for something outside the workflow; it is left unchanged.
    Waiting,
    /// Left unchanged because of something that it comes after.
    Blocked {
        /// The nearest node that it comes after and that has a reason of its own; of several equally near ones the one
        /// that is declared first.
        by: NodeId,
        /// That reason.
        because: Obstacle,
    },
    /// The same, and only because it hasn't started.
    Starting {
        /// The nearest node with a reason, of those after which it starts and what these wait for.
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
    /// It should be deleted, but something behind it wasn't brought about without it, or has to be deleted first.
    RemovalBlocked {
        /// The nearest node behind it that has a reason of its own; of several equally near ones the one that is declared
        /// first.
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

/// Why nothing that a node comes after is deleted.
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
    /// The node is [`Fate::Blocked`] or [`Fate::Starting`]: it wasn't brought about without the other one.
    Blocked,
    /// The node keeps an object that it no longer wants.
    Keeping,
}

/// Because of which node something was kept that isn't wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keeper {
    pub(crate) by: NodeId,
    pub(crate) because: RemovalObstacle,
}

impl Fate {
    /// Whether the node isn't wanted or takes no part: nothing waits for it.
    pub(super) const fn is_out(self) -> bool {
        self.is_about_removal() || matches!(self, Self::Inactive)
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
            Self::Blocked { by, .. } | Self::Starting { by, .. } | Self::RemovalBlocked { by, .. } => {
                Some(by)
            }
            _ => None,
        }
    }

    /// What a node with this fate means for those behind it.
    pub(super) const fn obstacle(self) -> Option<Obstacle> {
        match self {
            Self::NotReady => Some(Obstacle::NotReady),
            Self::Failed => Some(Obstacle::Failed),
            Self::Held => Some(Obstacle::Held),
            Self::Waiting => Some(Obstacle::Waiting),
            _ => None,
        }
    }

    /// What a node with this fate means for the deletion of those that it comes after.
    pub(super) const fn removal_obstacle(self) -> Option<RemovalObstacle> {
        match self {
            Self::Deleting => Some(RemovalObstacle::Deleting),
            Self::DeleteFailed => Some(RemovalObstacle::DeleteFailed),
            Self::Held => Some(RemovalObstacle::Held),
            Self::Waiting => Some(RemovalObstacle::Waiting),
            Self::Failed => Some(RemovalObstacle::Failed),
            Self::Blocked { .. } | Self::Starting { .. } => Some(RemovalObstacle::Blocked),
            _ => None,
        }
    }
}
