//! The outcome of a workflow, node by node.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{ConditionKind, NodeState, ReconcileResult, Verdict};
use crate::error::BoxError;
use crate::results::WorkflowError;

/// The reason of a pending node for which nothing was in progress.
pub(crate) const NOT_COME_TO: &str = "not reached";

/// One node of a result.
#[derive(Clone, Debug)]
pub struct NodeResult {
    /// The node's name.
    pub name: Arc<str>,
    /// Its state.
    pub state: NodeState,
    /// What its dependent did, if it was reconciled.
    pub reconciled: Option<ReconcileResult>,
    /// The results of its conditions, as far as they were evaluated.
    pub conditions: BTreeMap<ConditionKind, Verdict>,
    /// The error, if it failed.
    pub error: Option<Arc<BoxError>>,
    /// Why it should not exist, if it should not, and how much of it existed.
    pub unwanted: Option<Unwanted>,
    /// Why something that it no longer wants isn't removed yet, as in `stays for web, which is held`; the node itself
    /// was reconciled.
    pub kept: Option<String>,
}

/// Why a node should not exist, and how much of it existed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwanted {
    /// The node that causes this by its function or by what it `needs`: this one, or the nearest that it depends on;
    /// `None` if the primary is being deleted.
    pub by: Option<Arc<str>>,
    /// That node's reason; empty if the primary is being deleted.
    pub reason: String,
    /// The number of resources that this run found and deleted; 0 if nothing existed. `None` if its dependent deleted
    /// nothing: the deletion was left to others, was not reached, or failed.
    pub deleted: Option<usize>,
}

impl Unwanted {
    /// Whether there was nothing to delete.
    #[must_use]
    pub fn found_nothing(&self) -> bool {
        self.deleted == Some(0)
    }
}

/// The outcome of a workflow in one run, for every node: the data of a [`Run`](crate::Run).
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkflowResult {
    nodes: Vec<NodeResult>,
}

impl WorkflowResult {
    /// A result of these nodes, in the order of their declaration.
    pub(crate) fn new(nodes: Vec<NodeResult>) -> Self {
        Self { nodes }
    }

    /// Adds a failure that isn't a node's.
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

    /// After a clean-up: whether everything is gone that had to be deleted, and the primary may be removed, too.
    pub(crate) fn all_deleted(&self) -> bool {
        self.nodes.iter().all(|node| {
            matches!(node.state, NodeState::Deleted | NodeState::Left { .. } | NodeState::Inactive { .. })
        })
    }

    /// The nodes that were deleted, but whose deletion isn't complete, or whose condition `gone` isn't met.
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
            write!(f, "{}: {}", node.name, node.state)?;
            if let Some(kept) = &node.kept {
                write!(f, "; what it no longer wants {kept}")?;
            }
            f.write_str(end)?;
        }
        Ok(())
    }
}
