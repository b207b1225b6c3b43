//! The steps that are requested, and their answers.

use crate::workflow::NodeId;

/// A task concerning a node. Each step is answered once, by the method of the plan that is named with it;
/// steps that are requested together, or before others are answered, may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use]
pub enum Step {
    /// Determine whether the node takes part, then evaluate the condition `only_if`; answered by
    /// [`Plan::checked`](super::Plan::checked).
    Check(NodeId),
    /// The same for a node that can't be reconciled so far, because something that it comes after isn't ready, or
    /// something that it requires isn't wanted; answered by [`Plan::judged`](super::Plan::judged).
    Judge(NodeId),
    /// Reconcile the dependent, then evaluate the condition `ready`; answered by
    /// [`Plan::reconciled`](super::Plan::reconciled). Requested a second time for a node that answered
    /// [`Reconciled::Open`].
    Reconcile(NodeId),
    /// Remove what a node that was reconciled no longer wants; answered by [`Plan::swept`](super::Plan::swept).
    Sweep(NodeId),
    /// Delete the dependent if the node takes part, then evaluate the condition `gone`; if there is nothing to delete
    /// and nothing to wait for, neither. Answered by [`Plan::removed`](super::Plan::removed).
    Delete(NodeId),
}

impl Step {
    /// The node of the step.
    #[must_use]
    pub const fn node(self) -> NodeId {
        match self {
            Self::Check(node)
            | Self::Judge(node)
            | Self::Reconcile(node)
            | Self::Sweep(node)
            | Self::Delete(node) => node,
        }
    }
}

/// The answer to [`Step::Check`], and to [`Step::Judge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checked {
    /// All conditions are met: reconcile the node.
    Run,
    /// The condition `needs` is not met: the node takes no part. There is nothing to delete for the node itself; what
    /// requires it is deleted.
    Inactive,
    /// Its function says to keep what exists: nothing is done about the node, nothing behind it is reconciled, and nothing
    /// that it comes after is deleted.
    ///
    /// JOSDK has no such answer: there the choice is between reconciling and deleting.
    Hold,
    /// Its function says to remove: the node is deleted, with what requires it, once everything behind it was brought
    /// about without it.
    Remove,
    /// There is no answer yet, for example because an informer is still syncing. Nothing is done this time, as with
    /// [`Checked::Hold`]; what it waits for triggers the primary again.
    Waiting,
    /// A condition has failed. Nothing behind the node is run; nothing that it comes after is deleted.
    Failed,
}

/// The answer to [`Step::Reconcile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reconciled {
    /// The dependent is as it should be, and the condition `ready` is met or absent.
    Ready,
    /// The dependent was reconciled, but the condition `ready` is not met.
    NotReady,
    /// It can't be reconciled before something outside the workflow has happened.
    Waiting,
    /// It may come out otherwise once other nodes are done: it is asked once more when nothing else can be done.
    Open,
    /// Reconciling, or the condition `ready`, has failed.
    Failed,
}

/// The answer to [`Step::Sweep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swept {
    /// Nothing is left that the node doesn't want.
    Done,
    /// Something was kept: another node may want it.
    Kept,
    /// A removal has failed.
    Failed,
}

/// The answer to [`Step::Delete`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Removed {
    /// The dependent was deleted, or left to the garbage collector, and the condition `gone` is met or absent.
    Gone,
    /// The deletion isn't complete, or the condition `gone` is not met.
    NotYet,
    /// Deleting, or a condition, has failed.
    Failed,
    /// The condition `needs` is not met: there was nothing to delete, which counts as gone.
    Inactive,
}
