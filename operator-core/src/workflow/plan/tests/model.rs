//! The expected outcome, computed naively: sets that grow until nothing more can be added.
//!
//! It knows only the answers that were given so far, so it also says what has to be open in the middle of a run.

use std::collections::BTreeSet;

use super::*;

#[derive(Debug, Default)]
pub(super) struct Model {
    checked: BTreeSet<usize>,
    judged: BTreeSet<usize>,
    reconciled: BTreeSet<usize>,
    deleted: BTreeSet<usize>,
    marked: BTreeSet<usize>,
    /// Fates that are a node's own.
    own: Vec<Option<Fate>>,
}

impl Model {
    pub(super) fn of(kind: Kind, scenario: &Scenario, answered: impl Fn(Step) -> bool) -> Self {
        let mut model = Self { own: vec![None; scenario.depends.len()], ..Self::default() };
        if kind == Kind::Cleanup {
            model.marked = (0..scenario.depends.len()).collect();
        }
        loop {
            let size = model.size();
            for node in 0..scenario.depends.len() {
                if kind == Kind::Reconcile {
                    model.forwards(scenario, node, &answered);
                }
                model.backwards(scenario, node, &answered);
            }
            if model.size() == size {
                return model;
            }
        }
    }

    fn size(&self) -> usize {
        let own = self.own.iter().flatten().count();
        self.checked.len()
            + self.judged.len()
            + self.reconciled.len()
            + self.deleted.len()
            + self.marked.len()
            + own
    }

    fn forwards(&mut self, scenario: &Scenario, node: usize, answered: &impl Fn(Step) -> bool) {
        let depends = &scenario.depends[node];
        if depends.iter().any(|other| self.is_hopeless(*other)) {
            self.judged.insert(node);
            if answered(Step::Judge(scenario.node(node))) {
                self.judge(scenario, node);
            }
            return;
        }
        if !depends.iter().all(|other| self.own[*other] == Some(Fate::Ready)) {
            return;
        }
        self.checked.insert(node);
        if !answered(Step::Check(scenario.node(node))) {
            return;
        }
        match scenario.answers[node].checked {
            Checked::Run => {
                self.reconciled.insert(node);
                if answered(Step::Reconcile(scenario.node(node))) {
                    self.own[node] = Some(match scenario.answers[node].reconciled {
                        Reconciled::Ready => Fate::Ready,
                        Reconciled::NotReady => Fate::NotReady,
                        Reconciled::Failed => Fate::Failed,
                    });
                }
            }
            Checked::Inactive => self.own[node] = Some(Fate::Inactive),
            Checked::Remove => {
                self.marked.insert(node);
            }
            Checked::Hold => self.own[node] = Some(Fate::Held),
            Checked::Waiting => self.own[node] = Some(Fate::Waiting),
            Checked::Failed => self.own[node] = Some(Fate::Failed),
        }
    }

    /// Whether it is certain that the node won't be ready.
    fn is_hopeless(&self, node: usize) -> bool {
        self.judged.contains(&node)
            || self.marked.contains(&node)
            || self.own[node].is_some_and(|own| own != Fate::Ready)
    }

    fn judge(&mut self, scenario: &Scenario, node: usize) {
        let goes = |other: &usize| self.marked.contains(other) || self.own[*other] == Some(Fate::Inactive);
        let doomed = scenario.depends[node].iter().any(goes);
        match scenario.answers[node].checked {
            Checked::Remove | Checked::Inactive => {
                self.marked.insert(node);
            }
            Checked::Run if doomed => {
                self.marked.insert(node);
            }
            Checked::Hold => self.own[node] = Some(Fate::Held),
            Checked::Waiting => self.own[node] = Some(Fate::Waiting),
            Checked::Failed if doomed => self.own[node] = Some(Fate::Failed),
            Checked::Run | Checked::Failed => {}
        }
    }

    fn backwards(&mut self, scenario: &Scenario, node: usize, answered: &impl Fn(Step) -> bool) {
        let gone = |other: usize| matches!(self.own[other], Some(Fate::Gone | Fate::Inactive));
        let mut dependents =
            (0..scenario.depends.len()).filter(|other| scenario.depends[*other].contains(&node));
        if !self.marked.contains(&node) || !dependents.all(gone) {
            return;
        }
        self.deleted.insert(node);
        if answered(Step::Delete(scenario.node(node))) {
            self.own[node] = Some(match scenario.answers[node].removed {
                Removed::Gone => Fate::Gone,
                Removed::NotYet => Fate::Deleting,
                Removed::Failed => Fate::DeleteFailed,
                Removed::Inactive => Fate::Inactive,
            });
        }
    }

    /// All steps that have to be asked for by now.
    pub(super) fn asked(&self, scenario: &Scenario) -> BTreeSet<Step> {
        let checks = self.checked.iter().map(|node| Step::Check(scenario.node(*node)));
        let judges = self.judged.iter().map(|node| Step::Judge(scenario.node(*node)));
        let reconciles = self.reconciled.iter().map(|node| Step::Reconcile(scenario.node(*node)));
        let deletes = self.deleted.iter().map(|node| Step::Delete(scenario.node(*node)));
        checks.chain(judges).chain(reconciles).chain(deletes).collect()
    }

    /// The fate of each node; only for the end of a run.
    pub(super) fn fates(&self, scenario: &Scenario) -> Vec<Fate> {
        (0..scenario.depends.len())
            .map(|node| self.own[node].unwrap_or_else(|| self.blocked(scenario, node)))
            .collect()
    }

    fn blocked(&self, scenario: &Scenario, node: usize) -> Fate {
        let removal = self.marked.contains(&node);
        let mut ring = BTreeSet::from([node]);
        // One ring of neighbours after the other; the first in the nearest ring is to blame.
        for _ in 0..scenario.depends.len() {
            let neighbour = |other: &usize| {
                let towards = |from: &usize| scenario.depends[*from].contains(other);
                let away = |from: &usize| scenario.depends[*other].contains(from);
                if removal { ring.iter().any(away) } else { ring.iter().any(towards) }
            };
            let next: BTreeSet<usize> = (0..scenario.depends.len()).filter(neighbour).collect();
            for other in &next {
                let by = scenario.node(*other);
                let blocked = |because| Fate::Blocked { by, because };
                let removal_blocked = |because| Fate::RemovalBlocked { by, because };
                match (removal, self.own[*other]) {
                    (false, Some(Fate::NotReady)) => return blocked(Obstacle::NotReady),
                    (false, Some(Fate::Failed)) => return blocked(Obstacle::Failed),
                    (false, Some(Fate::Held)) => return blocked(Obstacle::Held),
                    (false, Some(Fate::Waiting)) => return blocked(Obstacle::Waiting),
                    (true, Some(Fate::Deleting)) => return removal_blocked(RemovalObstacle::Deleting),
                    (true, Some(Fate::DeleteFailed)) => {
                        return removal_blocked(RemovalObstacle::DeleteFailed);
                    }
                    (true, Some(Fate::Held)) => return removal_blocked(RemovalObstacle::Held),
                    (true, Some(Fate::Waiting)) => return removal_blocked(RemovalObstacle::Waiting),
                    (true, Some(Fate::Failed)) => return removal_blocked(RemovalObstacle::Failed),
                    _ => {}
                }
            }
            ring = next;
        }
        panic!("nobody is to blame for node {node}")
    }
}
