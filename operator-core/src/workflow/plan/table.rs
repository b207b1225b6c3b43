//! The plan's data about each node.

use super::{
    Fate, Keeper, RemovalObstacle, Step,
    wait::{Starts, Wait},
};
use crate::workflow::{Graph, NodeId, declare::graph::Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodePhase {
    /// Nothing is known about it yet.
    Unreached,
    /// Its conditions are being evaluated.
    Checking,
    /// Its conditions are being evaluated, although it isn't reconciled.
    Judging,
    /// Not reconciled so far, and wanted as far as it is known; `unsure` if its gate couldn't be asked.
    Retained { unsure: bool },
    /// Being reconciled.
    Reconciling,
    /// Reconciled; what comes of it depends on other nodes.
    Open,
    /// To be deleted once nothing behind it keeps it.
    Unwanted,
    /// What it no longer wants is being removed. Afterwards it has this fate.
    Sweeping(Fate),
    /// Being deleted.
    Deleting,
    /// Nothing more happens to it.
    Settled(Fate),
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    phases: Vec<NodePhase>,
    /// The nodes that keep something that they no longer want.
    keeping: Vec<NodeId>,
    /// Because of which node nothing of each was removed; filled in at the end.
    keepers: Vec<Option<Blame<RemovalObstacle>>>,
    /// The number of steps that were requested and are not answered.
    unanswered: usize,
}

impl Table {
    pub(super) fn new(graph: &Graph, phase: NodePhase) -> Self {
        Self { phases: vec![phase; graph.len()], keeping: Vec::new(), keepers: Vec::new(), unanswered: 0 }
    }

    /// Whether every step that was requested is answered.
    pub(super) const fn is_idle(&self) -> bool {
        self.unanswered == 0
    }

    pub(super) fn is_asked(&self, node: NodeId) -> bool {
        use NodePhase::{Checking, Deleting, Judging, Reconciling, Sweeping};
        matches!(self.phase(node), Checking | Judging | Reconciling | Sweeping(_) | Deleting)
    }

    pub(super) fn phase(&self, node: NodeId) -> NodePhase {
        self.phases[node.index()]
    }

    pub(super) fn fate(&self, node: NodeId) -> Fate {
        match self.phase(node) {
            NodePhase::Settled(fate) | NodePhase::Sweeping(fate) => fate,
            _ => Fate::Pending,
        }
    }

    /// Requests a step.
    pub(super) fn ask(&mut self, step: Step, steps: &mut Vec<Step>) {
        let phase = match step {
            Step::Check(_) => NodePhase::Checking,
            Step::Judge(_) => NodePhase::Judging,
            Step::Reconcile(_) => NodePhase::Reconciling,
            Step::Sweep(node) => NodePhase::Sweeping(self.fate(node)),
            Step::Delete(_) => NodePhase::Deleting,
        };
        self.enter(step.node(), phase);
        self.unanswered += 1;
        steps.push(step);
    }

    /// Takes the answer to a step. `false` if the step wasn't requested.
    pub(super) fn answer(&mut self, node: NodeId, asked: NodePhase) -> bool {
        let expected = self.phase(node) == asked;
        self.unanswered -= usize::from(expected);
        expected
    }

    pub(super) fn enter(&mut self, node: NodeId, phase: NodePhase) {
        self.phases[node.index()] = phase;
    }

    pub(super) fn settle(&mut self, node: NodeId, fate: Fate) {
        self.enter(node, NodePhase::Settled(fate));
    }

    /// The node was swept, and not all that it no longer wants could be removed.
    pub(super) fn keeps_something(&mut self, node: NodeId) {
        self.keeping.push(node);
    }

    pub(super) fn kept_for(&self, node: NodeId) -> Option<Keeper> {
        let blame = self.keepers.get(node.index()).copied().flatten()?;
        (blame.distance > 0).then_some(Keeper { by: blame.by, because: blame.because })
    }

    /// Once nothing more will happen: determines for each node about which nothing was done which other node is the
    /// cause. `removals` is the graph of the removals.
    pub(super) fn resolve(&mut self, graph: &Graph, removals: &Graph, starts: &Starts) {
        let blocked = |phase: &NodePhase| matches!(phase, NodePhase::Retained { .. });
        if self.phases.iter().any(blocked) {
            self.blame_for_what_waits(graph, starts);
        }
        let is_obstacle = |node| self.fate(node).removal_obstacle().is_some();
        if !self.keeping.is_empty() || graph.nodes().any(is_obstacle) {
            self.blame_for_what_is_left(removals);
        }
    }

    fn blame_for_what_waits(&mut self, graph: &Graph, starts: &Starts) {
        let mut blame = vec![None; self.phases.len()];
        for node in graph.in_order() {
            let own = self.fate(node).obstacle();
            blame[node.index()] = own.map(|because| Blame { distance: 0, by: node, because });
            if matches!(self.phase(node), NodePhase::Retained { .. }) {
                let waits = |(other, words): &(NodeId, Words)| match starts.wait(node, *other, *words) {
                    Wait::No => false,
                    Wait::Applied => self.fate(*other) != Fate::NotReady,
                    Wait::Ready => true,
                };
                let awaited = || graph.edges_to(node).filter(waits);
                let to_start = awaited().filter(|(other, words)| starts.has(node, *other, *words));
                // A node without anybody to blame waits for nothing, so it was reconciled.
                let nearest = Blame::nearest(awaited().map(|(other, _)| other), &blame)
                    .expect("a node that was only judged comes after one that isn't ready");
                let fate = match Blame::nearest(to_start.map(|(other, _)| other), &blame) {
                    Some(Blame { by, because, .. }) => Fate::Starting { by, because },
                    None => Fate::Blocked { by: nearest.by, because: nearest.because },
                };
                self.settle(node, fate);
                blame[node.index()] = Some(nearest);
            }
        }
    }

    fn blame_for_what_is_left(&mut self, graph: &Graph) {
        let mut blame = vec![None; self.phases.len()];
        for node in graph.in_order().rev() {
            let keeps = self.keeping.contains(&node).then_some(RemovalObstacle::Keeping);
            let own = self.fate(node).removal_obstacle().or(keeps);
            let own = own.map(|because| Blame { distance: 0, by: node, because });
            let nearest = Blame::nearest(graph.dependents_of(node), &blame);
            if self.phase(node) == NodePhase::Unwanted {
                let blamed = nearest.expect("a node that wasn't deleted has one behind it that keeps it");
                self.settle(node, Fate::RemovalBlocked { by: blamed.by, because: blamed.because });
            }
            blame[node.index()] = own.or(nearest);
        }
        self.keepers = blame;
    }
}

/// The nodes that block a node's neighbours, and their distance from the node.
#[derive(Clone, Copy, Debug)]
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
