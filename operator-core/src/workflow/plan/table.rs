//! The plan's data about each node.

use super::{Fate, Removed, Step};
use crate::workflow::{Graph, NodeId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodePhase {
    /// Nothing is known about it yet.
    Unreached,
    /// Its conditions are being evaluated.
    Checking,
    /// Its conditions are being evaluated, although it isn't reconciled.
    Judging,
    /// Not reconciled, and so far not removed; `unsure` whether its gate would allow removal.
    Retained { unsure: bool },
    /// Being reconciled.
    Reconciling,
    /// To be deleted once nothing depends on it any more.
    Marked,
    /// Being deleted.
    Deleting,
    /// Nothing more happens to it.
    Settled(Fate),
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    states: Vec<NodePhase>,
    /// For each node the number of those depending on it that are not gone.
    dependents_left: Vec<u32>,
    /// The number of steps that were requested and are not answered.
    unanswered: usize,
    started: bool,
}

impl Table {
    pub(super) fn new(graph: &Graph, state: NodePhase) -> Self {
        let dependents_left = graph.dependent_counts().to_vec();
        Self { states: vec![state; graph.len()], dependents_left, unanswered: 0, started: false }
    }

    /// Whether this is the first time.
    pub(super) const fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.started && self.unanswered == 0
    }

    pub(super) fn state(&self, node: NodeId) -> NodePhase {
        self.states[node.index()]
    }

    pub(super) fn fate(&self, node: NodeId) -> Fate {
        match self.state(node) {
            NodePhase::Settled(fate) => fate,
            _ => Fate::Pending,
        }
    }

    /// Requests a step.
    pub(super) fn ask(&mut self, step: Step, steps: &mut Vec<Step>) {
        self.states[step.node().index()] = match step {
            Step::Check(_) => NodePhase::Checking,
            Step::Judge(_) => NodePhase::Judging,
            Step::Reconcile(_) => NodePhase::Reconciling,
            Step::Delete(_) => NodePhase::Deleting,
        };
        self.unanswered += 1;
        steps.push(step);
    }

    /// Takes the answer to a step. `false` if the step wasn't requested.
    pub(super) fn answer(&mut self, node: NodeId, asked: NodePhase) -> bool {
        let expected = self.state(node) == asked;
        self.unanswered -= usize::from(expected);
        expected
    }

    pub(super) fn settle(&mut self, node: NodeId, fate: Fate) {
        self.states[node.index()] = NodePhase::Settled(fate);
    }

    pub(super) fn keep(&mut self, node: NodeId, unsure: bool) {
        self.states[node.index()] = NodePhase::Retained { unsure };
    }

    pub(super) fn mark(&mut self, node: NodeId) {
        self.states[node.index()] = NodePhase::Marked;
    }

    /// Requests the deletion of the node if it is marked and nothing that depends on it is left.
    pub(super) fn delete_if_free(&mut self, node: NodeId, steps: &mut Vec<Step>) {
        if self.state(node) == NodePhase::Marked && self.dependents_left[node.index()] == 0 {
            self.ask(Step::Delete(node), steps);
        }
    }

    /// Takes the answer to a deletion, and requests those that it has made possible.
    pub(super) fn removed(&mut self, graph: &Graph, node: NodeId, removed: Removed, steps: &mut Vec<Step>) {
        if !self.answer(node, NodePhase::Deleting) {
            return;
        }
        let fate = match removed {
            Removed::Gone => Fate::Gone,
            Removed::NotYet => Fate::Deleting,
            Removed::Failed => Fate::DeleteFailed,
            Removed::Inactive => Fate::Inactive,
        };
        self.settle(node, fate);
        if fate.is_removed() {
            for dependency in graph.dependencies_of(node) {
                // Also for a dependency that isn't marked: it may be marked later, through another gate.
                self.dependents_left[dependency.index()] -= 1;
                self.delete_if_free(dependency, steps);
            }
        }
    }

    /// Once nothing more will happen: determines for each node about which nothing was done which other node is the
    /// cause. Called after every answer; nearly always there is nothing to determine yet.
    #[inline]
    pub(super) fn resolve_if_finished(&mut self, graph: &Graph) {
        if self.is_finished() {
            self.resolve(graph);
        }
    }

    fn resolve(&mut self, graph: &Graph) {
        if self.states.iter().any(|state| matches!(state, NodePhase::Retained { .. })) {
            self.blame_for_what_is_kept(graph);
        }
        if self.states.contains(&NodePhase::Marked) {
            self.blame_for_what_is_left(graph);
        }
    }

    fn blame_for_what_is_kept(&mut self, graph: &Graph) {
        let mut blame = vec![None; self.states.len()];
        for node in graph.in_order() {
            let own = self.fate(node).obstacle();
            blame[node.index()] = own.map(|because| Blame { distance: 0, by: node, because });
            if matches!(self.state(node), NodePhase::Retained { .. }) {
                let nearest = Blame::nearest(graph.dependencies_of(node), &blame);
                // A node without anybody to blame has dependencies that are all ready, so it was reconciled.
                let blamed = nearest.expect("a node that was only judged depends on one that isn't ready");
                self.settle(node, Fate::Blocked { by: blamed.by, because: blamed.because });
                blame[node.index()] = Some(blamed);
            }
        }
    }

    fn blame_for_what_is_left(&mut self, graph: &Graph) {
        let mut blame = vec![None; self.states.len()];
        for node in graph.in_order().rev() {
            let own = self.fate(node).removal_obstacle();
            blame[node.index()] = own.map(|because| Blame { distance: 0, by: node, because });
            if self.state(node) == NodePhase::Marked {
                let nearest = Blame::nearest(graph.dependents_of(node), &blame);
                let blamed = nearest.expect("a node that wasn't deleted has a dependent that isn't gone");
                self.settle(node, Fate::RemovalBlocked { by: blamed.by, because: blamed.because });
                blame[node.index()] = Some(blamed);
            }
        }
    }
}

/// The nodes that block a node's neighbours, and their distance from the node.
#[derive(Clone, Copy)]
struct Blame<O> {
    distance: usize,
    by: NodeId,
    because: O,
}

impl<O: Copy> Blame<O> {
    fn nearest(neighbours: impl Iterator<Item = NodeId>, blame: &[Option<Self>]) -> Option<Self> {
        let found = neighbours.filter_map(|neighbour| blame[neighbour.index()]);
        let nearest = found.min_by_key(|found| (found.distance, found.by))?;
        Some(Self { distance: nearest.distance + 1, ..nearest })
    }
}
