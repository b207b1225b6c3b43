//! One run of a workflow.

use super::{
    Checked, Fate, Reconciled, Removed, Step,
    table::{NodePhase, Table},
};
use crate::workflow::{Graph, NodeId};

/// The outlook for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outlook {
    /// All that it depends on may become ready.
    Open,
    /// Something that it depends on won't be ready in this run, so it isn't reconciled.
    Blocked,
    /// Something that it depends on is removed, so it is removed as well, unless its gate prevents that.
    Doomed,
}

/// Decides what is done next about the nodes of a workflow.
///
/// Each method appends the steps that may be done now. An answer to a step that wasn't requested is ignored.
///
/// JOSDK: `WorkflowReconcileExecutor` and `WorkflowCleanupExecutor`.
#[derive(Clone, Debug)]
pub struct Plan<'g> {
    graph: &'g Graph,
    table: Table,
    /// For each node the number of those it depends on that are not ready.
    dependencies_left: Vec<u32>,
    outlooks: Vec<Outlook>,
    /// Nodes behind which there is still something to visit; kept to reuse the memory.
    open: Vec<NodeId>,
}

impl<'g> Plan<'g> {
    /// A run for a primary that isn't being deleted, in which nothing has happened yet.
    #[must_use]
    pub fn reconcile(graph: &'g Graph) -> Self {
        Self::of(graph, NodePhase::Unreached)
    }

    /// A run for a primary that is being deleted, in which nothing has happened yet. All nodes are marked, so it
    /// requests only [`Step::Delete`]: conditions `only_if` and `ready` don't count any more, and nothing is held back.
    #[must_use]
    pub fn cleanup(graph: &'g Graph) -> Self {
        Self::of(graph, NodePhase::Marked)
    }

    fn of(graph: &'g Graph, state: NodePhase) -> Self {
        let dependencies_left = graph.dependency_counts().to_vec();
        let outlooks = vec![Outlook::Open; graph.len()];
        Self { graph, table: Table::new(graph, state), dependencies_left, outlooks, open: Vec::new() }
    }

    /// Starts the run: requests to check the nodes that depend on nothing, or to delete those on which nothing depends.
    /// Does nothing the second time.
    pub fn start(&mut self, steps: &mut Vec<Step>) {
        if self.table.start() {
            for node in self.graph.nodes() {
                match self.table.state(node) {
                    NodePhase::Unreached => self.check_if_free(node, steps),
                    _ => self.table.delete_if_free(node, steps),
                }
            }
            self.table.resolve_if_finished(self.graph);
        }
    }

    /// Takes the answer to [`Step::Check`].
    pub fn checked(&mut self, node: NodeId, checked: Checked, steps: &mut Vec<Step>) {
        if !self.table.answer(node, NodePhase::Checking) {
            return;
        }
        let first = steps.len();
        match checked {
            Checked::Run => self.table.ask(Step::Reconcile(node), steps),
            Checked::Inactive => {
                // Its dependencies are ready and aren't to be deleted, so nobody waits for its own removal.
                self.table.settle(node, Fate::Inactive);
                self.doom_behind(node, steps);
            }
            Checked::Remove => self.remove(node, steps),
            Checked::Hold => self.block(node, Fate::Held, steps),
            Checked::Waiting => self.block(node, Fate::Waiting, steps),
            Checked::Failed => self.block(node, Fate::Failed, steps),
        }
        self.conclude(first, steps);
    }

    /// Takes the answer to [`Step::Judge`].
    pub fn judged(&mut self, node: NodeId, judged: Checked, steps: &mut Vec<Step>) {
        if !self.table.answer(node, NodePhase::Judging) {
            return;
        }
        let first = steps.len();
        let doomed = self.outlooks[node.index()] == Outlook::Doomed;
        match judged {
            // A dependency of it may also be removed, and then waits until everything behind an inactive node is gone.
            Checked::Remove | Checked::Inactive => self.remove(node, steps),
            Checked::Run if doomed => self.remove(node, steps),
            Checked::Run => self.table.keep(node, false),
            Checked::Hold => self.table.settle(node, Fate::Held),
            Checked::Waiting => self.table.settle(node, Fate::Waiting),
            Checked::Failed if doomed => self.table.settle(node, Fate::Failed),
            // It isn't reconciled in any case, so its gate is asked again when it can be.
            Checked::Failed => self.table.keep(node, true),
        }
        self.conclude(first, steps);
    }

    /// Takes the answer to [`Step::Reconcile`].
    pub fn reconciled(&mut self, node: NodeId, reconciled: Reconciled, steps: &mut Vec<Step>) {
        if !self.table.answer(node, NodePhase::Reconciling) {
            return;
        }
        let first = steps.len();
        match reconciled {
            Reconciled::Ready => {
                self.table.settle(node, Fate::Ready);
                for dependent in self.graph.dependents_of(node) {
                    self.dependencies_left[dependent.index()] -= 1;
                    self.check_if_free(dependent, steps);
                }
            }
            Reconciled::NotReady => self.block(node, Fate::NotReady, steps),
            Reconciled::Failed => self.block(node, Fate::Failed, steps),
        }
        self.conclude(first, steps);
    }

    /// Takes the answer to [`Step::Delete`].
    pub fn removed(&mut self, node: NodeId, removed: Removed, steps: &mut Vec<Step>) {
        self.table.removed(self.graph, node, removed, steps);
        self.table.resolve_if_finished(self.graph);
    }

    /// Whether the run has started, and every step that was requested is answered.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.table.is_finished()
    }

    /// The outcome of the node; [`Fate::Pending`] while it isn't certain.
    #[must_use]
    pub fn fate(&self, node: NodeId) -> Fate {
        self.table.fate(node)
    }

    /// All nodes in the order of their declarations, and their outcomes.
    pub fn fates(&self) -> impl Iterator<Item = (NodeId, Fate)> + '_ {
        self.graph.nodes().map(|node| (node, self.fate(node)))
    }

    /// Sorts the steps of one answer in the order of the declarations; there is at most one for each node.
    fn conclude(&mut self, first: usize, steps: &mut [Step]) {
        steps[first..].sort_unstable_by_key(|step| step.node());
        self.table.resolve_if_finished(self.graph);
    }

    /// A node behind one that never becomes ready is never free.
    fn check_if_free(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        if self.dependencies_left[node.index()] == 0 {
            debug_assert_eq!(self.table.state(node), NodePhase::Unreached, "a node is come to once");
            self.table.ask(Step::Check(node), steps);
        }
    }

    /// Nothing more is done about the node, and nothing behind it is reconciled.
    fn block(&mut self, node: NodeId, fate: Fate, steps: &mut Vec<Step>) {
        self.table.settle(node, fate);
        self.judge_behind(node, steps);
    }

    /// Requests to judge everything behind the node that isn't judged yet.
    fn judge_behind(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        // The steps are the list of those that are still to be looked behind.
        let (mut node, mut next) = (node, steps.len());
        loop {
            for behind in self.graph.dependents_of(node) {
                let outlook = &mut self.outlooks[behind.index()];
                if *outlook == Outlook::Open {
                    *outlook = Outlook::Blocked;
                    self.table.ask(Step::Judge(behind), steps);
                }
            }
            let Some(step) = steps.get(next) else { break };
            (node, next) = (step.node(), next + 1);
        }
    }

    /// The node is removed, and so is everything behind it that allows this.
    fn remove(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        self.table.mark(node);
        self.doom_behind(node, steps);
        self.table.delete_if_free(node, steps);
    }

    /// What depends on the node is removed, unless its gate prevents that. It is judged first; what was judged already
    /// follows at once.
    fn doom_behind(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        let mut node = node;
        loop {
            for behind in self.graph.dependents_of(node) {
                match std::mem::replace(&mut self.outlooks[behind.index()], Outlook::Doomed) {
                    Outlook::Doomed => {}
                    Outlook::Open => {
                        self.table.ask(Step::Judge(behind), steps);
                        self.judge_behind(behind, steps);
                    }
                    Outlook::Blocked => match self.table.state(behind) {
                        NodePhase::Retained { unsure: false } => {
                            self.table.mark(behind);
                            self.table.delete_if_free(behind, steps);
                            self.open.push(behind);
                        }
                        NodePhase::Retained { unsure: true } => self.table.settle(behind, Fate::Failed),
                        // Nodes that are still being judged learn it with their answers; all others have their fates, or are already being removed.
                        _ => {}
                    },
                }
            }
            let Some(marked) = self.open.pop() else { break };
            node = marked;
        }
    }
}
