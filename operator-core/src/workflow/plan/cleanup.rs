//! One run of a workflow for a primary that is being deleted.

use super::{
    Fate, Removed, Step,
    table::{State, Table},
};
use crate::workflow::{Graph, NodeId};

/// Decides what is deleted next for a primary that is being deleted. It asks for [`Step::Delete`] only: preconditions
/// and ready postconditions don't count any more, and nothing is held back.
///
/// Each method appends the steps that may be done now. An answer that nobody asked for is ignored.
///
/// JOSDK: `WorkflowCleanupExecutor`.
#[derive(Clone, Debug)]
pub struct CleanupPlan<'g> {
    graph: &'g Graph,
    table: Table,
}

impl<'g> CleanupPlan<'g> {
    /// A run in which nothing has happened yet.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Self {
        Self { graph, table: Table::new(graph, State::Marked) }
    }

    /// Begins the run: asks to delete the nodes on which nothing depends. Does nothing the second time.
    pub fn start(&mut self, steps: &mut Vec<Step>) {
        if self.table.start() {
            for node in self.graph.nodes() {
                self.table.delete_if_free(node, steps);
            }
        }
    }

    /// Takes the answer to [`Step::Delete`].
    pub fn removed(&mut self, node: NodeId, removed: Removed, steps: &mut Vec<Step>) {
        self.table.removed(self.graph, node, removed, steps);
        self.table.resolve_if_finished(self.graph);
    }

    /// Whether the run has begun, and everything that was asked for is answered.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.table.is_finished()
    }

    /// What has become of the node; [`Fate::Pending`] while it isn't certain.
    #[must_use]
    pub fn fate(&self, node: NodeId) -> Fate {
        self.table.fate(node)
    }

    /// All nodes in the order of their declarations, and what has become of them.
    pub fn fates(&self) -> impl Iterator<Item = (NodeId, Fate)> + '_ {
        self.graph.nodes().map(|node| (node, self.fate(node)))
    }
}
