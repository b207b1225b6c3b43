//! The expected outcome, computed naively: sets that grow until nothing more can be added. It knows nothing of steps.

use std::collections::BTreeSet;

use super::*;

/// The outcome of a run, node by node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Model {
    /// `None` for a node that is only kept or left because of others.
    own: Vec<Option<Fate>>,
    /// Nodes that aren't wanted, by their own answer or because of what they require.
    unwanted: BTreeSet<usize>,
    /// Nodes that were removed, or of which nothing is left that they don't want, and everything behind them.
    settled: BTreeSet<usize>,
    pub(super) swept: BTreeSet<usize>,
    pub(super) deleted: BTreeSet<usize>,
}

impl Model {
    pub(super) fn of(kind: Kind, scenario: &Scenario) -> Self {
        let nodes = scenario.depends.len();
        let mut model = Self {
            own: vec![None; nodes],
            unwanted: BTreeSet::new(),
            settled: BTreeSet::new(),
            swept: BTreeSet::new(),
            deleted: BTreeSet::new(),
        };
        match kind {
            Kind::Cleanup => model.unwanted.extend(0..nodes),
            // A node has an outcome of its own at the latest after as many rounds as there are nodes before it.
            Kind::Reconcile => {
                (0..=nodes).for_each(|_| (0..nodes).for_each(|node| model.apply(scenario, node)))
            }
        }
        (0..=nodes).for_each(|_| (0..nodes).for_each(|node| model.remove(scenario, node)));
        model
    }

    fn is_out(&self, node: usize) -> bool {
        self.unwanted.contains(&node) || self.own[node] == Some(Fate::Inactive)
    }

    fn apply(&mut self, scenario: &Scenario, node: usize) {
        let answers = scenario.answers[node];
        let is_passed = |other: usize| match self.own[other] {
            _ if self.is_out(other) => true,
            Some(Fate::NotReady) => scenario.wait(node, other) == Wait::Applied,
            own => own == Some(Fate::Ready),
        };
        let waits = !scenario.awaited(node).all(is_passed);
        let doomed = scenario.requires[node].iter().any(|other| self.is_out(*other));
        let reconciled =
            if answers.reconciled == Reconciled::Open { answers.again } else { answers.reconciled };
        self.own[node] = match answers.checked {
            Checked::Inactive => Some(Fate::Inactive),
            Checked::Hold => Some(Fate::Held),
            Checked::Waiting => Some(Fate::Waiting),
            Checked::Failed if waits && !doomed => None,
            Checked::Failed => Some(Fate::Failed),
            Checked::Run if waits && !doomed => None,
            Checked::Run if !doomed => Some(match reconciled {
                Reconciled::Ready => Fate::Ready,
                Reconciled::NotReady => Fate::NotReady,
                Reconciled::Failed => Fate::Failed,
                Reconciled::Waiting | Reconciled::Open => Fate::Waiting,
            }),
            Checked::Remove | Checked::Run => {
                self.unwanted.insert(node);
                None
            }
        };
    }

    fn remove(&mut self, scenario: &Scenario, node: usize) {
        let keeps = scenario.keeps();
        let mut behind = (0..keeps.len()).filter(|other| keeps[*other].contains(&node));
        if !behind.all(|other| self.settled.contains(&other)) {
            return;
        }
        let answers = scenario.answers[node];
        if self.unwanted.contains(&node) {
            self.deleted.insert(node);
            self.own[node] = Some(match answers.removed {
                Removed::Gone => Fate::Gone,
                Removed::Inactive => Fate::Inactive,
                Removed::NotYet => Fate::Deleting,
                Removed::Failed => Fate::DeleteFailed,
            });
        }
        match self.own[node] {
            Some(Fate::Gone | Fate::Inactive) => {
                self.settled.insert(node);
            }
            Some(fate @ (Fate::Ready | Fate::NotReady | Fate::Failed)) if self.swept.insert(node) => {
                match answers.swept {
                    Swept::Done if fate != Fate::Failed => drop(self.settled.insert(node)),
                    Swept::Failed => self.own[node] = Some(Fate::Failed),
                    Swept::Done | Swept::Kept => {}
                }
            }
            _ => {}
        }
    }

    /// The fate of each node.
    pub(super) fn fates(&self, scenario: &Scenario) -> Vec<Fate> {
        (0..scenario.depends.len())
            .map(|node| self.own[node].unwrap_or_else(|| self.blocked(scenario, node)))
            .collect()
    }

    fn blocked(&self, scenario: &Scenario, node: usize) -> Fate {
        let first = |is_start: bool| -> Option<Fate> {
            let starts = |other: &usize| scenario.unstarted.contains(&(node, *other));
            let only = is_start.then(|| scenario.awaited(node).filter(starts).collect());
            self.blamed(scenario, node, only)
        };
        match (self.unwanted.contains(&node), first(true)) {
            (false, Some(Fate::Blocked { by, because })) => Fate::Starting { by, because },
            _ => first(false).unwrap_or_else(|| panic!("nobody is to blame for node {node}")),
        }
    }

    /// The nearest node to blame; `only`: of the nodes before this one, these alone are looked at.
    fn blamed(&self, scenario: &Scenario, node: usize, mut only: Option<BTreeSet<usize>>) -> Option<Fate> {
        let removal = self.unwanted.contains(&node);
        let keeps = scenario.keeps();
        let mut ring = BTreeSet::from([node]);
        // One ring of neighbours after the other; the first in the nearest ring is to blame.
        for _ in 0..scenario.depends.len() {
            let neighbour = |other: &usize| {
                let towards = |from: &usize| match scenario.wait(*from, *other) {
                    Wait::No => false,
                    Wait::Applied => self.own[*other] != Some(Fate::NotReady),
                    Wait::Ready => true,
                };
                let away = |from: &usize| keeps[*other].contains(from);
                if removal { ring.iter().any(away) } else { ring.iter().any(towards) }
            };
            let mut next: BTreeSet<usize> = (0..scenario.depends.len()).filter(neighbour).collect();
            if let Some(only) = only.take() {
                next = next.intersection(&only).copied().collect();
            }
            for other in &next {
                let by = scenario.node(*other);
                let keeps = self.swept.contains(other) && scenario.answers[*other].swept == Swept::Kept;
                let own = self.own[*other];
                let is_kept = own.is_none() && !self.unwanted.contains(other);
                let blamed = match own {
                    Some(own) if removal => own
                        .removal_obstacle()
                        .or(keeps.then_some(RemovalObstacle::Keeping))
                        .map(|because| Fate::RemovalBlocked { by, because }),
                    None if removal && is_kept => {
                        Some(Fate::RemovalBlocked { by, because: RemovalObstacle::Blocked })
                    }
                    Some(own) => own.obstacle().map(|because| Fate::Blocked { by, because }),
                    None => None,
                };
                if let Some(blamed) = blamed {
                    return Some(blamed);
                }
            }
            // A node doesn't wait for what comes before one that isn't wanted.
            let waits = |other: &usize| self.own[*other].is_none() && !self.unwanted.contains(other);
            ring = next.into_iter().filter(|other| removal || waits(other)).collect();
        }
        None
    }
}
