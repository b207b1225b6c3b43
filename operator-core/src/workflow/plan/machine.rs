//! One run of a workflow.

use super::{
    Checked, Fate, Reconciled, Removed, Step,
    table::{State, Table},
};
use crate::workflow::{Graph, NodeId};

/// Decides what is done next about the nodes of a workflow.
///
/// Each method appends the steps that may be done now. An answer that nobody asked for is ignored.
///
/// JOSDK: `WorkflowReconcileExecutor` and `WorkflowCleanupExecutor`.
#[derive(Clone, Debug)]
pub struct Plan<'g> {
    graph: &'g Graph,
    table: Table,
    /// How many of the nodes that a node depends on are not ready.
    dependencies_left: Vec<usize>,
    /// Nodes that are being marked; kept for its memory.
    marked: Vec<NodeId>,
}

impl<'g> Plan<'g> {
    /// A run for a primary that isn't being deleted, in which nothing has happened yet.
    #[must_use]
    pub fn reconcile(graph: &'g Graph) -> Self {
        Self::of(graph, State::Unreached)
    }

    /// A run for a primary that is being deleted, in which nothing has happened yet. All nodes are marked, so it asks for
    /// [`Step::Delete`] only: preconditions and ready postconditions don't count any more, and nothing is held back.
    #[must_use]
    pub fn cleanup(graph: &'g Graph) -> Self {
        Self::of(graph, State::Marked)
    }

    fn of(graph: &'g Graph, state: State) -> Self {
        let dependencies_left = graph.nodes().map(|node| graph.dependencies_of(node).count()).collect();
        Self { graph, table: Table::new(graph, state), dependencies_left, marked: Vec::new() }
    }

    /// Begins the run: asks to check the nodes that depend on nothing, or to delete those on which nothing depends. Does
    /// nothing the second time.
    pub fn start(&mut self, steps: &mut Vec<Step>) {
        if self.table.start() {
            for node in self.graph.nodes() {
                if self.table.state(node) == State::Unreached {
                    self.check_if_free(node, steps);
                }
                self.table.delete_if_free(node, steps);
            }
            self.table.resolve_if_finished(self.graph);
        }
    }

    /// Takes the answer to [`Step::Check`].
    pub fn checked(&mut self, node: NodeId, checked: Checked, steps: &mut Vec<Step>) {
        if !self.table.answer(node, State::Checking) {
            return;
        }
        match checked {
            Checked::Run => self.table.ask(Step::Reconcile(node), steps),
            Checked::Inactive => {
                // What it depends on is ready and not to be deleted, so nobody waits for its own removal.
                self.table.settle(node, Fate::Inactive);
                self.mark_from(node, steps);
            }
            Checked::Remove => {
                self.table.mark(node);
                self.marked.push(node);
                self.mark_from(node, steps);
            }
            Checked::Hold => self.table.settle(node, Fate::Held),
            Checked::Waiting => self.table.settle(node, Fate::Waiting),
            Checked::Failed => self.table.settle(node, Fate::Failed),
        }
        self.table.resolve_if_finished(self.graph);
    }

    /// Takes the answer to [`Step::Reconcile`].
    pub fn reconciled(&mut self, node: NodeId, reconciled: Reconciled, steps: &mut Vec<Step>) {
        if !self.table.answer(node, State::Reconciling) {
            return;
        }
        match reconciled {
            Reconciled::Ready => {
                self.table.settle(node, Fate::Ready);
                for dependent in self.graph.dependents_of(node) {
                    self.dependencies_left[dependent.index()] -= 1;
                    self.check_if_free(dependent, steps);
                }
            }
            Reconciled::NotReady => self.table.settle(node, Fate::NotReady),
            Reconciled::Failed => self.table.settle(node, Fate::Failed),
        }
        self.table.resolve_if_finished(self.graph);
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

    /// A node that is marked depends on one that never becomes ready, so it is never free.
    fn check_if_free(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        if self.dependencies_left[node.index()] == 0 {
            debug_assert_eq!(self.table.state(node), State::Unreached, "a node is come to once");
            self.table.ask(Step::Check(node), steps);
        }
    }

    /// Marks everything that depends on the node. None of it was come to yet, because it waits for the node; it may be
    /// marked already, through another gate, and then all behind it is as well.
    fn mark_from(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        let mut marked = std::mem::take(&mut self.marked);
        let mut next = marked.len();
        self.mark_dependents(node, &mut marked);
        while let Some(node) = marked.get(next).copied() {
            self.mark_dependents(node, &mut marked);
            next += 1;
        }
        marked.sort_unstable();
        for node in marked.drain(..) {
            self.table.delete_if_free(node, steps);
        }
        self.marked = marked;
    }

    fn mark_dependents(&mut self, node: NodeId, marked: &mut Vec<NodeId>) {
        for dependent in self.graph.dependents_of(node) {
            if self.table.state(dependent) == State::Unreached {
                self.table.mark(dependent);
                marked.push(dependent);
            }
        }
    }
}
