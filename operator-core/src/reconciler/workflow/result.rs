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
    /// The node that says so by its function or by what it `needs`: this one, or the nearest that it depends on; `None`
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

/// What a workflow did in one run, for every node: what a [`Run`](crate::Run) tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkflowResult {
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

    /// All nodes, in the order of their declaration.
    pub(crate) fn nodes(&self) -> &[NodeResult] {
        &self.nodes
    }

    /// The node of that name.
    pub(crate) fn node(&self, name: &str) -> Option<&NodeResult> {
        self.nodes.iter().find(|node| &*node.name == name)
    }

    /// After a clean-up: whether everything is gone that was to go, so that the primary may follow.
    pub(crate) fn all_deleted(&self) -> bool {
        self.nodes.iter().all(|node| {
            matches!(node.state, NodeState::Deleted | NodeState::Left { .. } | NodeState::Inactive { .. })
        })
    }

    /// The nodes that were deleted, but whose deletion isn't done, or whose condition `gone` is not met.
    pub(crate) fn deleting(&self) -> impl Iterator<Item = &NodeResult> {
        self.nodes.iter().filter(|node| matches!(node.state, NodeState::Deleting { .. }))
    }

    /// The errors of all nodes as one.
    pub(crate) fn check(&self) -> Result<(), WorkflowError> {
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
