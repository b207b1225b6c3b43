//! What a workflow did, node by node.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{ConditionKind, NodeState, ReconcileResult, Verdict, WorkflowError};
use crate::reconciler::BoxError;

/// The reason of a pending node about which nothing was under way.
pub(crate) const NOT_COME_TO: &str = "not reached";

/// One node of a result.
#[derive(Clone, Debug)]
pub struct NodeResult {
    /// The node's name.
    pub name: Arc<str>,
    /// What became of it.
    pub state: NodeState,
    /// What its dependent did, where it was reconciled.
    pub reconciled: Option<ReconcileResult>,
    /// What its conditions answered, those that were asked.
    pub conditions: BTreeMap<ConditionKind, Verdict>,
    /// The error, where it failed.
    pub error: Option<Arc<BoxError>>,
    /// Why it is not to be there, where that is so, and how much of it was.
    pub unwanted: Option<Unwanted>,
}

/// Why a node is not to be there, and how much of it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwanted {
    /// The node that says so by its gate or its activation condition: this one, or the nearest that it depends on; `None`
    /// where the primary goes.
    pub by: Option<Arc<str>>,
    /// What that node says; empty where the primary goes.
    pub reason: String,
    /// How many resources this run found and had deleted: with none, nothing was there. `None` where none was deleted by
    /// its dependent: it was left to others, or was not come to, or that failed.
    pub deleted: Option<usize>,
}

impl Unwanted {
    /// Whether nothing was there that could have been deleted.
    #[must_use]
    pub fn found_nothing(&self) -> bool {
        self.deleted == Some(0)
    }
}

/// What a workflow did in one run, for every node. JOSDK's `WorkflowReconcileResult` and
/// `WorkflowCleanupResult`.
#[derive(Clone, Debug, Default)]
pub struct WorkflowResult {
    nodes: Vec<NodeResult>,
}

impl WorkflowResult {
    /// A result of these nodes, in the order of their declaration.
    pub(crate) fn new(nodes: Vec<NodeResult>) -> Self {
        Self { nodes }
    }

    /// Adds what isn't one of the workflow's nodes, and went wrong all the same.
    pub(crate) fn add(&mut self, further: NodeResult) {
        self.nodes.push(further);
    }

    /// All nodes, in the order of their declaration. A last one that isn't declared says what went wrong about what earlier
    /// versions have left behind.
    #[must_use]
    pub fn nodes(&self) -> &[NodeResult] {
        &self.nodes
    }

    /// The node of that name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&NodeResult> {
        self.nodes.iter().find(|node| &*node.name == name)
    }

    /// The nodes whose ready postcondition was asked and is not met. JOSDK's `getNotReadyDependents`.
    pub fn not_ready(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes.iter().filter(|node| matches!(node.state, NodeState::NotReady { .. }))
    }

    /// Whether every node is where it should be: reconciled and ready, inactive, or removed on purpose. Unlike JOSDK's
    /// `allDependentResourcesReady`, a node that was never reached counts as not ready.
    #[must_use]
    pub fn all_ready(&self) -> bool {
        self.nodes.iter().all(|node| {
            matches!(
                node.state,
                NodeState::Ready(_)
                    | NodeState::Inactive { .. }
                    | NodeState::Deleted
                    | NodeState::Left { .. }
            )
        })
    }

    /// The nodes that failed. JOSDK's `getErroredDependents`.
    pub fn failed(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes.iter().filter(|node| matches!(node.state, NodeState::Failed { .. }))
    }

    /// After a clean-up: whether everything is gone that was to go, so that the primary may follow.
    #[must_use]
    pub fn all_deleted(&self) -> bool {
        self.nodes.iter().all(|node| {
            matches!(node.state, NodeState::Deleted | NodeState::Left { .. } | NodeState::Inactive { .. })
        })
    }

    /// The nodes that were deleted, but whose deletion isn't done, or whose delete postcondition is not met. JOSDK's
    /// `getPostConditionNotMetDependents`.
    pub fn deleting(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes.iter().filter(|node| matches!(node.state, NodeState::Deleting { .. }))
    }

    /// The typed detail that a condition of a node answered with. JOSDK's `getDependentConditionResult`.
    #[must_use]
    pub fn condition_detail<T: 'static>(&self, node: &str, condition: ConditionKind) -> Option<&T> {
        self.node(node)?.conditions.get(&condition)?.detail()
    }

    /// The resource of a node, if it was reconciled and is one of type `T`.
    #[must_use]
    pub fn resource<T: Send + Sync + 'static>(&self, node: &str) -> Option<Arc<T>> {
        self.node(node)?.reconciled.as_ref()?.resource()
    }

    /// The errors of all nodes as one.
    ///
    /// # Errors
    /// When a node failed. JOSDK's `throwAggregateExceptionIfErrorsPresent`.
    pub fn check(&self) -> Result<(), WorkflowError> {
        let errors: Vec<_> = self
            .nodes
            .iter()
            .filter_map(|node| node.error.clone().map(|error| (Arc::clone(&node.name), error)))
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(WorkflowError::Nodes(errors)) }
    }
}

/// One line for each node.
impl fmt::Display for WorkflowResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, node) in self.nodes.iter().enumerate() {
            let end = if position + 1 == self.nodes.len() { "" } else { "\n" };
            write!(f, "{}: {}{end}", node.name, node.state)?;
        }
        Ok(())
    }
}
