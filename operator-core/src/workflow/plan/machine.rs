//! One run of a workflow.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Checked, Fate, Reconciled, Removed, Step, Swept,
    table::{NodePhase, Table},
    wait::{Starts, Wait},
};
use crate::workflow::{Graph, NodeId, Word};

/// How far the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    NotStarted,
    /// Nodes are checked, judged and reconciled; nothing is removed.
    Applying,
    /// All that can be applied was applied; what isn't wanted is removed.
    Removing,
}

/// How far a node is for those behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    /// It was applied, and isn't ready.
    Applied,
    Ready,
    /// It isn't wanted, or takes no part.
    Out,
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
    stage: Stage,
    starts: Starts,
    /// For each node the number of those before it for which it still waits.
    waits_for: Vec<u32>,
    /// For each node the number of those behind it because of which nothing of it is removed yet.
    kept_by: Vec<u32>,
    /// The graph of the removals: a node that reads what another one has made comes after that one. `None` if none does.
    removals: Option<Arc<Graph>>,
    /// The nodes that require something that isn't wanted or takes no part.
    doomed: Vec<bool>,
}

impl<'g> Plan<'g> {
    /// A run for a primary that isn't being deleted, in which nothing has happened yet.
    #[must_use]
    pub fn reconcile(graph: &'g Graph) -> Self {
        Self::of(graph, NodePhase::Unreached)
    }

    /// The same, in which some nodes haven't started: each waits for the one that is paired with it if it
    /// [starts after](Word::StartsAfter) that. By default all have started.
    #[must_use]
    pub fn starting(self, starts: BTreeSet<(NodeId, NodeId)>) -> Self {
        let mut plan = Self { starts: Starts(starts), ..self };
        plan.waits_for = plan.counted();
        plan
    }

    /// A run for a primary that is being deleted, in which nothing has happened yet. No node is wanted, so it requests
    /// only [`Step::Delete`]: conditions `only_if` and `ready` don't count any more, and nothing is held back.
    #[must_use]
    pub fn cleanup(graph: &'g Graph) -> Self {
        Self::of(graph, NodePhase::Unwanted)
    }

    fn of(graph: &'g Graph, phase: NodePhase) -> Self {
        let mut plan = Self {
            graph,
            table: Table::new(graph, phase),
            stage: Stage::NotStarted,
            starts: Starts::default(),
            waits_for: Vec::new(),
            kept_by: Vec::new(),
            removals: None,
            doomed: vec![false; graph.len()],
        };
        plan.waits_for = plan.counted();
        plan
    }

    /// For each node the number of those for which it waits at the start.
    fn counted(&self) -> Vec<u32> {
        let waits = |node| {
            let before = self.graph.edges_to(node);
            before.map(|(other, words)| u32::from(self.starts.wait(node, other, words) != Wait::No)).sum()
        };
        self.graph.nodes().map(waits).collect()
    }

    /// Starts the run: requests to check the nodes that come after nothing, or to delete those behind which there is
    /// nothing. Does nothing the second time.
    pub fn start(&mut self, steps: &mut Vec<Step>) {
        if self.stage == Stage::NotStarted {
            self.stage = Stage::Applying;
            for node in self.graph.nodes() {
                self.check_if_free(node, steps);
            }
            self.conclude(0, steps);
        }
    }

    /// Whether all is applied, and [`Plan::remove`] is to be called.
    #[must_use]
    pub fn is_applied(&self) -> bool {
        self.stage == Stage::Applying && self.table.is_idle()
    }

    /// Goes on to what isn't wanted any more. `reads` has the pairs of nodes of which the second one reads what the first one
    /// has made: for the removals it comes after that one, unless that would close a circle. Does nothing before all is applied,
    /// or the second time.
    pub fn remove(&mut self, reads: &[(NodeId, NodeId)], steps: &mut Vec<Step>) {
        if !self.is_applied() {
            return;
        }
        self.stage = Stage::Removing;
        self.removals = (!reads.is_empty()).then(|| Arc::new(self.graph.and_after(reads)));
        self.kept_by = self.removals.as_deref().unwrap_or(self.graph).dependent_counts().to_vec();
        let (first, mut free) = (steps.len(), Vec::new());
        for node in self.graph.nodes() {
            self.remove_if_free(node, &mut free, steps);
        }
        self.release_all(free, steps);
        self.conclude(first, steps);
    }

    /// Takes the answer to [`Step::Check`].
    pub fn checked(&mut self, node: NodeId, checked: Checked, steps: &mut Vec<Step>) {
        if self.table.answer(node, NodePhase::Checking) {
            let first = steps.len();
            match checked {
                Checked::Run => self.table.ask(Step::Reconcile(node), steps),
                other => self.stays_unapplied(node, other, steps),
            }
            self.conclude(first, steps);
        }
    }

    /// Takes the answer to [`Step::Judge`].
    pub fn judged(&mut self, node: NodeId, judged: Checked, steps: &mut Vec<Step>) {
        if self.table.answer(node, NodePhase::Judging) {
            let first = steps.len();
            match judged {
                Checked::Run if self.doomed[node.index()] => {
                    self.stays_unapplied(node, Checked::Remove, steps)
                }
                // It isn't reconciled in any case, so its gate is asked again when it can be.
                Checked::Failed if !self.doomed[node.index()] => {
                    self.table.enter(node, NodePhase::Retained { unsure: true });
                    self.check_if_free(node, steps);
                }
                Checked::Run => {
                    self.table.enter(node, NodePhase::Retained { unsure: false });
                    self.check_if_free(node, steps);
                }
                other => self.stays_unapplied(node, other, steps),
            }
            self.conclude(first, steps);
        }
    }

    /// Takes the answer to [`Step::Reconcile`].
    pub fn reconciled(&mut self, node: NodeId, reconciled: Reconciled, steps: &mut Vec<Step>) {
        if self.table.answer(node, NodePhase::Reconciling) {
            let first = steps.len();
            match reconciled {
                Reconciled::Ready => {
                    self.table.settle(node, Fate::Ready);
                    self.pass(node, Passed::Ready, steps);
                }
                Reconciled::NotReady => {
                    self.table.settle(node, Fate::NotReady);
                    self.pass(node, Passed::Applied, steps);
                }
                Reconciled::Waiting => self.table.settle(node, Fate::Waiting),
                Reconciled::Failed => self.table.settle(node, Fate::Failed),
                Reconciled::Open => self.table.enter(node, NodePhase::Open),
            }
            self.conclude(first, steps);
        }
    }

    /// Takes the answer to [`Step::Sweep`].
    pub fn swept(&mut self, node: NodeId, swept: Swept, steps: &mut Vec<Step>) {
        let NodePhase::Sweeping(fate) = self.table.phase(node) else { return };
        if self.table.answer(node, NodePhase::Sweeping(fate)) {
            let first = steps.len();
            self.table.settle(node, if swept == Swept::Failed { Fate::Failed } else { fate });
            match swept {
                Swept::Done if fate != Fate::Failed => self.release(node, steps),
                Swept::Kept => self.table.keeps_something(node),
                Swept::Done | Swept::Failed => {}
            }
            self.conclude(first, steps);
        }
    }

    /// Takes the answer to [`Step::Delete`].
    pub fn removed(&mut self, node: NodeId, removed: Removed, steps: &mut Vec<Step>) {
        if self.table.answer(node, NodePhase::Deleting) {
            let first = steps.len();
            let (fate, is_gone) = match removed {
                Removed::Gone => (Fate::Gone, true),
                Removed::Inactive => (Fate::Inactive, true),
                Removed::NotYet => (Fate::Deleting, false),
                Removed::Failed => (Fate::DeleteFailed, false),
            };
            self.table.settle(node, fate);
            if is_gone {
                self.release(node, steps);
            }
            self.conclude(first, steps);
        }
    }

    /// Whether the run has started, and every step that was requested is answered.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.stage == Stage::Removing && self.table.is_idle()
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

    /// Whether a step about the node was requested, and isn't answered.
    pub(in crate::workflow) fn is_asked(&self, node: NodeId) -> bool {
        self.table.is_asked(node)
    }

    /// Whether it is certain that the node isn't wanted, or takes no part.
    pub(in crate::workflow) fn is_out(&self, node: NodeId) -> bool {
        let phase = self.table.phase(node);
        matches!(phase, NodePhase::Unwanted | NodePhase::Deleting) || self.fate(node).is_out()
    }

    /// Because of which node what this one no longer wants was kept: the node was reconciled, and nothing of it was
    /// removed. Certain at the end.
    pub(in crate::workflow) fn kept_for(&self, node: NodeId) -> Option<super::Keeper> {
        self.table.kept_for(node)
    }

    /// Ends the work on one answer: sorts its steps in the order of the declarations, of which there is at most one for
    /// each node. If nothing is under way, goes on to what was left for later, except for removals.
    fn conclude(&mut self, first: usize, steps: &mut Vec<Step>) {
        steps[first..].sort_unstable_by_key(|step| step.node());
        if self.table.is_idle() && self.stage == Stage::Applying {
            let later: [fn(NodeId, NodePhase) -> Option<Step>; 2] = [
                // All of these are behind one that isn't ready. They may free others by not being wanted.
                |node, phase| (phase == NodePhase::Unreached).then_some(Step::Judge(node)),
                |node, phase| (phase == NodePhase::Open).then_some(Step::Reconcile(node)),
            ];
            for step in later {
                let due = |node| step(node, self.table.phase(node));
                let due: Vec<Step> = self.graph.nodes().filter_map(due).collect();
                if !due.is_empty() {
                    due.into_iter().for_each(|step| self.table.ask(step, steps));
                    return;
                }
            }
        }
        if self.is_finished() {
            let removals = self.removals.as_deref().unwrap_or(self.graph);
            self.table.resolve(self.graph, removals, &self.starts);
        }
    }

    /// A node behind one that isn't ready is never free, and a doomed one isn't applied.
    fn check_if_free(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        let is_free = self.waits_for[node.index()] == 0 && !self.doomed[node.index()];
        if is_free && matches!(self.table.phase(node), NodePhase::Unreached | NodePhase::Retained { .. }) {
            self.table.ask(Step::Check(node), steps);
        }
    }

    /// The node isn't applied, by its own answer.
    fn stays_unapplied(&mut self, node: NodeId, because: Checked, steps: &mut Vec<Step>) {
        match because {
            Checked::Run | Checked::Failed => self.table.settle(node, Fate::Failed),
            Checked::Hold => self.table.settle(node, Fate::Held),
            Checked::Waiting => self.table.settle(node, Fate::Waiting),
            Checked::Inactive => {
                self.table.settle(node, Fate::Inactive);
                self.pass(node, Passed::Out, steps);
            }
            Checked::Remove => {
                self.table.enter(node, NodePhase::Unwanted);
                self.pass(node, Passed::Out, steps);
            }
        }
    }

    /// Those behind the node that waited for no more than this don't wait for it any more. If it isn't wanted or takes no part,
    /// it dooms what requires it.
    fn pass(&mut self, node: NodeId, passed: Passed, steps: &mut Vec<Step>) {
        let graph = self.graph;
        let mut all = vec![(node, passed)];
        while let Some((node, passed)) = all.pop() {
            let furthest = if passed == Passed::Applied { Wait::Applied } else { Wait::Ready };
            for (behind, words) in graph.edges_from(node) {
                let wait = self.starts.wait(behind, node, words);
                if wait > furthest {
                    continue;
                }
                self.waits_for[behind.index()] -= u32::from(wait != Wait::No);
                if passed != Passed::Out || !words.has(Word::Requires) {
                    self.check_if_free(behind, steps);
                } else if !std::mem::replace(&mut self.doomed[behind.index()], true) {
                    match self.table.phase(behind) {
                        NodePhase::Unreached => self.table.ask(Step::Judge(behind), steps),
                        NodePhase::Retained { unsure: false } => {
                            self.table.enter(behind, NodePhase::Unwanted);
                            all.push((behind, Passed::Out));
                        }
                        NodePhase::Retained { unsure: true } => self.table.settle(behind, Fate::Failed),
                        // A node that is being judged learns it with its answer; all others have their fates.
                        _ => {}
                    }
                }
            }
        }
    }

    /// Requests the removal of the node, or of what it no longer wants, if nothing behind it keeps that. Nodes about which
    /// nothing has to be done are added to `free`.
    fn remove_if_free(&mut self, node: NodeId, free: &mut Vec<NodeId>, steps: &mut Vec<Step>) {
        if self.kept_by[node.index()] == 0 {
            match self.table.phase(node) {
                NodePhase::Unwanted => self.table.ask(Step::Delete(node), steps),
                NodePhase::Settled(Fate::Ready | Fate::NotReady | Fate::Failed) => {
                    self.table.ask(Step::Sweep(node), steps);
                }
                NodePhase::Settled(Fate::Inactive) => free.push(node),
                _ => {}
            }
        }
    }

    /// The node doesn't keep what it comes after any more.
    fn release(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        self.release_all(vec![node], steps);
    }

    fn release_all(&mut self, mut free: Vec<NodeId>, steps: &mut Vec<Step>) {
        let removals = self.removals.clone();
        let graph = removals.as_deref().unwrap_or(self.graph);
        while let Some(node) = free.pop() {
            for before in graph.dependencies_of(node) {
                self.kept_by[before.index()] -= 1;
                self.remove_if_free(before, &mut free, steps);
            }
        }
    }
}
