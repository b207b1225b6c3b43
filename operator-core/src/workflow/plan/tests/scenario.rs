//! A graph, the answers of its nodes, and a driver that gives them.

use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*};

use super::*;

/// The answers of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    pub(super) checked: Checked,
    pub(super) reconciled: Reconciled,
    /// The answer when it is reconciled for the second time.
    pub(super) again: Reconciled,
    pub(super) swept: Swept,
    pub(super) removed: Removed,
}

impl Answers {
    pub(super) const FINE: Self = Self {
        checked: Checked::Run,
        reconciled: Reconciled::Ready,
        again: Reconciled::Ready,
        swept: Swept::Done,
        removed: Removed::Gone,
    };

    /// Reads the answers off a number; most nodes continue, so something happens behind them.
    fn of(number: u64) -> Self {
        let mut rest = number;
        let mut choose = |count: u64| {
            let choice = rest % count;
            rest /= count;
            choice
        };
        let checked = match choose(16) {
            0 | 1 => Checked::Remove,
            2 => Checked::Inactive,
            3 => Checked::Hold,
            4 => Checked::Waiting,
            5 => Checked::Failed,
            _ => Checked::Run,
        };
        let mut reconciled = match choose(10) {
            0 => Reconciled::NotReady,
            1 => Reconciled::Failed,
            2 => Reconciled::Waiting,
            _ => Reconciled::Ready,
        };
        let again = reconciled;
        if choose(5) == 0 {
            reconciled = Reconciled::Open;
        }
        let swept = match choose(8) {
            0 => Swept::Kept,
            1 => Swept::Failed,
            _ => Swept::Done,
        };
        let removed = match choose(10) {
            0 | 1 => Removed::Inactive,
            2 => Removed::NotYet,
            3 => Removed::Failed,
            _ => Removed::Gone,
        };
        Self { checked, reconciled, again, swept, removed }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reconcile,
    Cleanup,
}

#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) graph: Graph,
    /// The same edges, computed without the graph.
    pub(super) depends: Vec<BTreeSet<usize>>,
    /// Those of them that are required.
    pub(super) requires: Vec<BTreeSet<usize>>,
    /// Those of the others after which the node only starts.
    pub(super) starts: Vec<BTreeSet<usize>>,
    /// Those of the others that only have to be applied.
    pub(super) in_order: Vec<BTreeSet<usize>>,
    /// The nodes that haven't started, each with one after which it starts.
    pub(super) unstarted: BTreeSet<(usize, usize)>,
    /// Pairs of nodes of which the second one reads what the first one has made; some would close a circle.
    pub(super) reads: Vec<(usize, usize)>,
    pub(super) answers: Vec<Answers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Asked(Step),
    Answered(Step),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trace {
    pub(super) events: Vec<Event>,
    pub(super) fates: Vec<Fate>,
}

impl Trace {
    pub(super) fn asked(&self) -> Vec<Step> {
        let asked = self.events.iter().filter_map(|event| match event {
            Event::Asked(step) => Some(*step),
            Event::Answered(_) => None,
        });
        asked.collect()
    }
}

/// A plan, and what it is for.
pub(super) struct Driven<'g> {
    kind: Kind,
    plan: Plan<'g>,
    reads: Vec<(NodeId, NodeId)>,
}

impl<'g> Driven<'g> {
    pub(super) fn new(kind: Kind, scenario: &'g Scenario) -> Self {
        let plan = match kind {
            Kind::Reconcile => {
                let starts = scenario.unstarted.iter();
                let starts = starts.map(|(node, other)| (scenario.node(*node), scenario.node(*other)));
                Plan::reconcile(&scenario.graph).starting(starts.collect())
            }
            Kind::Cleanup => Plan::cleanup(&scenario.graph),
        };
        let node = |position: usize| scenario.node(position);
        let reads = scenario.reads.iter().map(|(made, by)| (node(*made), node(*by))).collect();
        Self { kind, plan, reads }
    }

    pub(super) fn start(&mut self, steps: &mut Vec<Step>) {
        self.plan.start(steps);
        self.plan.remove(&self.reads, steps);
    }

    pub(super) fn answer(&mut self, step: Step, answers: Answers, again: bool, steps: &mut Vec<Step>) {
        match step {
            Step::Delete(node) => self.plan.removed(node, answers.removed, steps),
            step if self.kind == Kind::Cleanup => panic!("{step:?} in a clean-up"),
            Step::Check(node) => self.plan.checked(node, answers.checked, steps),
            Step::Judge(node) => self.plan.judged(node, answers.checked, steps),
            Step::Reconcile(node) if again => self.plan.reconciled(node, answers.again, steps),
            Step::Reconcile(node) => self.plan.reconciled(node, answers.reconciled, steps),
            Step::Sweep(node) => self.plan.swept(node, answers.swept, steps),
        }
        self.plan.remove(&self.reads, steps);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.plan.is_finished()
    }

    pub(super) fn fates(&self) -> Vec<Fate> {
        self.plan.fates().map(|(_, fate)| fate).collect()
    }
}

impl Scenario {
    pub(super) fn node(&self, position: usize) -> NodeId {
        self.graph.nodes().nth(position).unwrap()
    }

    /// How far the other one has to be for the node, if it is wanted.
    pub(super) fn wait(&self, node: usize, other: usize) -> Wait {
        if !self.depends[node].contains(&other) {
            Wait::No
        } else if self.starts[node].contains(&other) {
            if self.unstarted.contains(&(node, other)) { Wait::Ready } else { Wait::No }
        } else if self.in_order[node].contains(&other) {
            Wait::Applied
        } else {
            Wait::Ready
        }
    }

    /// Those before a node for which it waits in some way.
    pub(super) fn awaited(&self, node: usize) -> impl Iterator<Item = usize> {
        self.depends[node].iter().copied().filter(move |other| self.wait(node, *other) != Wait::No)
    }

    /// Runs to the end. The order says which of the steps that are open is answered next.
    pub(super) fn run(&self, kind: Kind, order: &[u8]) -> Trace {
        let mut plan = Driven::new(kind, self);
        let (mut events, mut open, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let mut order = order.iter().cycle();
        assert!(!plan.is_finished(), "a run begins before it ends");
        plan.start(&mut steps);
        loop {
            events.extend(steps.iter().copied().map(Event::Asked));
            open.append(&mut steps);
            assert_eq!(plan.is_finished(), open.is_empty(), "a run ends with its steps");
            if open.is_empty() {
                return Trace { events, fates: plan.fates() };
            }
            let step = open.remove(usize::from(*order.next().unwrap()) % open.len());
            let again = events.contains(&Event::Answered(step));
            plan.answer(step, self.answers[step.node().index()], again, &mut steps);
            events.push(Event::Answered(step));
            assert!(events.len() <= 10 * self.graph.len(), "a run ends");
        }
    }

    /// The nodes that a step from a node to others reaches, without the node itself.
    fn reached(&self, from: usize, neighbour: impl Fn(usize, usize) -> bool) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([from]);
        loop {
            let all = 0..self.depends.len();
            let next: BTreeSet<usize> =
                all.filter(|other| found.iter().any(|node| neighbour(*node, *other))).collect();
            if next.is_subset(&found) {
                found.remove(&from);
                return found;
            }
            found.extend(next);
        }
    }

    /// The nodes that depend on a node, or read it, directly or not.
    pub(super) fn behind(&self, node: usize) -> BTreeSet<usize> {
        let keeps = self.keeps();
        self.reached(node, |node, other| keeps[other].contains(&node))
    }

    /// For each node those that it keeps: its dependencies, and those that it reads, one read after the other, as long as that
    /// closes no circle.
    pub(super) fn keeps(&self) -> Vec<BTreeSet<usize>> {
        let mut all = Self { reads: Vec::new(), ..self.clone() };
        for (made, by) in &self.reads {
            if made != by && !all.before(*made).contains(by) {
                all.depends[*by].insert(*made);
            }
        }
        all.depends
    }

    /// The nodes that a node keeps, directly or not: its dependencies, and those that it reads.
    pub(super) fn before(&self, node: usize) -> BTreeSet<usize> {
        let keeps = self.keeps();
        self.reached(node, |node, other| keeps[node].contains(&other))
    }
}

/// Up to eleven nodes. A node depends on some of those before it, but they are declared in any order.
pub(super) fn scenarios() -> impl Strategy<Value = Scenario> {
    let nodes = vec((any::<u16>(), any::<(u16, u32)>(), any::<u8>(), any::<u64>()), 0..12);
    (nodes, vec((any::<usize>(), any::<usize>()), 0..5)).prop_map(|(nodes, reads)| {
        let mut declared: Vec<usize> = (0..nodes.len()).collect();
        declared.sort_by_key(|node| nodes[*node].2);
        let position = |node: usize| declared.iter().position(|other| *other == node).unwrap();
        let depends: Vec<BTreeSet<usize>> = declared
            .iter()
            .map(|node| {
                let bits = nodes[*node].0 & nodes[*node].1.0;
                (0..*node).filter(|before| bits & (1 << before) != 0).map(position).collect()
            })
            .collect();
        let chosen = |is: &dyn Fn(u64, u32, usize) -> bool| -> Vec<BTreeSet<usize>> {
            let of = |(node, others): (&usize, &BTreeSet<usize>)| {
                let (words, weaker) = (nodes[*node].3 >> 48, nodes[*node].1.1);
                others.iter().filter(|other| is(words, weaker, **other)).copied().collect()
            };
            declared.iter().zip(&depends).map(of).collect()
        };
        // Half of the words are the strongest one, and half of the others the weaker two.
        let requires = chosen(&|words, _, other| words & (1 << other) != 0);
        let starts =
            chosen(&|words, weaker, other| words & (1 << other) == 0 && weaker >> (2 * other) & 3 == 3);
        let in_order =
            chosen(&|words, weaker, other| words & (1 << other) == 0 && weaker >> (2 * other) & 3 == 2);
        let unstarted = (0..depends.len())
            .flat_map(|node| starts[node].iter().map(move |other| (node, *other)))
            .filter(|(node, other)| nodes[declared[*node]].3 >> (other + 17) & 1 == 0)
            .collect();
        let words = depends.iter().enumerate().map(|(at, others)| {
            let word = |other: &usize| {
                let word = match other {
                    other if requires[at].contains(other) => Word::Requires,
                    other if starts[at].contains(other) => Word::StartsAfter,
                    other if in_order[at].contains(other) => Word::InOrder,
                    _ => Word::After,
                };
                (format!("node-{other}"), word)
            };
            (format!("node-{at}"), others.iter().map(word).collect::<Vec<_>>())
        });
        let graph = Graph::of_words(words).unwrap();
        let answers = declared.iter().map(|node| Answers::of(nodes[*node].3 & 0xffff_ffff_ffff)).collect();
        let count = nodes.len().max(1);
        let reads = reads.into_iter().map(|(made, by)| (made % count, by % count));
        let reads = reads.filter(|_| !nodes.is_empty()).collect();
        Scenario { graph, depends, requires, starts, in_order, unstarted, reads, answers }
    })
}

/// Which of the open steps are answered next.
pub(super) fn orders() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..40)
}
