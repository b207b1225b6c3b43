//! A part of a workflow does what the whole does, as far as it goes.

use std::time::Duration;

use cpu_time::ThreadTime;
use proptest::prelude::*;

use super::super::{
    Reply,
    part::{merged, outside, with_all_before},
};
use crate::{
    properties::daily,
    results::{NodeResult, NodeState, WorkflowResult},
    workflow::{
        Graph, NodeId, Word,
        plan::{Checked, Fate, Plan, Reconciled, Removed, Step, Swept},
    },
};

/// What a node answers whenever it is asked.
#[derive(Clone, Copy, Debug)]
struct Says(Checked, Reconciled);

#[derive(Clone, Debug)]
struct Scenario {
    /// The nodes that each comes after, and whether it requires them.
    depends: Vec<Vec<(usize, bool)>>,
    says: Vec<Says>,
    /// What is there at first.
    there: Vec<bool>,
    /// The nodes that are named in the first part; the second one names the others.
    first: Vec<bool>,
}

fn says() -> impl Strategy<Value = Says> {
    let checked = prop_oneof![
        4 => Just(Checked::Run),
        2 => Just(Checked::Remove),
        1 => Just(Checked::Hold),
        1 => Just(Checked::Waiting),
        1 => Just(Checked::Failed),
        1 => Just(Checked::Inactive),
    ];
    let reconciled = prop_oneof![4 => Just(Reconciled::Ready), 1 => Just(Reconciled::NotReady), 1 => Just(Reconciled::Failed)];
    (checked, reconciled).prop_map(|(checked, reconciled)| Says(checked, reconciled))
}

fn scenario() -> impl Strategy<Value = Scenario> {
    (1..7_usize).prop_flat_map(|nodes| {
        let masks = proptest::collection::vec((any::<u8>(), any::<u8>()), nodes);
        let flags = || proptest::collection::vec(any::<bool>(), nodes);
        (masks, proptest::collection::vec(says(), nodes), flags(), flags()).prop_map(
            |(masks, says, there, first)| {
                let before = |(node, (mask, words)): (usize, (u8, u8))| {
                    let before = (0..node).filter(|other| mask & (1 << other) != 0);
                    before.map(|other| (other, words & (1 << other) != 0)).collect()
                };
                Scenario { depends: masks.into_iter().enumerate().map(before).collect(), says, there, first }
            },
        )
    })
}

impl Scenario {
    fn graph(&self) -> Graph {
        let word = |(other, requires): &(usize, bool)| {
            (other.to_string(), if *requires { Word::Requires } else { Word::After })
        };
        let words = self.depends.iter().map(|depends| depends.iter().map(word).collect::<Vec<_>>());
        let nodes = words.enumerate().map(|(node, words)| (node.to_string(), words));
        Graph::of_words(nodes).expect("a node depends on those before it")
    }

    /// One run; answers with the fates, and with the nodes that were written or deleted.
    fn run(
        &self,
        graph: &Graph,
        part: &[bool],
        gone: &[bool],
        there: &mut [bool],
    ) -> (Vec<Fate>, Vec<NodeId>) {
        let (mut plan, mut steps, mut touched) = (Plan::reconcile(graph), Vec::new(), Vec::new());
        plan.start(&mut steps);
        while let Some(step) = steps.pop() {
            let node = step.node();
            let Says(checked, reconciled) = self.says[node.index()];
            let answer = match step {
                _ if !part[node.index()] => outside(step, gone[node.index()]).expect("it is not reconciled"),
                Step::Check(_) => Reply::Checked(checked),
                Step::Judge(_) => Reply::Judged(checked),
                Step::Reconcile(_) => {
                    touched.push(node);
                    there[node.index()] = true;
                    Reply::Reconciled(reconciled)
                }
                Step::Sweep(_) => Reply::Swept(Swept::Done),
                Step::Delete(_) => {
                    touched.push(node);
                    there[node.index()] = false;
                    Reply::Removed(Removed::Gone)
                }
            };
            answer.give(&mut plan, node, &mut steps);
            plan.remove(&[], &mut steps);
        }
        (plan.fates().map(|(_, fate)| fate).collect(), touched)
    }

    fn named(&self, graph: &Graph, first: bool) -> Vec<bool> {
        let named = graph.nodes().filter(|node| self.first[node.index()] == first);
        with_all_before(graph, named.collect())
    }
}

fn result(nodes: impl Iterator<Item = usize>, state: &NodeState) -> WorkflowResult {
    let node = |node: usize| NodeResult {
        name: node.to_string().into(),
        state: state.clone(),
        reconciled: None,
        conditions: [].into(),
        error: None,
        unwanted: None,
        kept: None,
    };
    WorkflowResult::new(nodes.map(node).collect())
}

/// How long it takes to know what all of so many nodes have come to, in two parts.
fn took(nodes: usize) -> Duration {
    let graph =
        Graph::new((0..nodes).map(|node| (node.to_string(), [""; 0]))).expect("they depend on nothing");
    let before = result((0..nodes).filter(|node| node % 3 == 0), &NodeState::Deleted);
    let part = result((0..nodes).filter(|node| node % 2 == 0), &NodeState::Deleted);
    let tries = (0..5).map(|_| {
        let started = ThreadTime::now();
        assert!(merged(&graph, Some(&before), &part).nodes().len() > nodes / 2);
        started.elapsed()
    });
    tries.min().unwrap_or_default()
}

#[test]
fn what_parts_come_to_costs_as_much_as_there_are_nodes() {
    let (few, many) = (took(1_000), took(10_000));
    assert!(many < few * 40, "ten times as many take {many:?} instead of {few:?}");
}

proptest! {
    #![proptest_config(daily())]

    #[test]
    fn two_parts_that_are_the_whole_do_what_one_run_does_but_keep_what_nodes_outside_may_need(
        scenario in scenario(),
    ) {
        let graph = scenario.graph();
        let (all, none) = (vec![true; graph.len()], vec![false; graph.len()]);
        let mut whole = scenario.there.clone();
        let (fates, _) = scenario.run(&graph, &all, &none, &mut whole);

        let mut there = scenario.there.clone();
        let first = scenario.named(&graph, true);
        let (came_to, touched) = scenario.run(&graph, &first, &none, &mut there);
        prop_assert!(touched.iter().all(|node| first[node.index()]), "{touched:?} outside of {first:?}");
        let is_gone = |node: NodeId| first[node.index()] && matches!(came_to[node.index()], Fate::Gone | Fate::Inactive);
        let gone: Vec<_> = graph.nodes().map(is_gone).collect();
        let second = scenario.named(&graph, false);
        let (then, touched) = scenario.run(&graph, &second, &gone, &mut there);
        prop_assert!(touched.iter().all(|node| second[node.index()]), "{touched:?} outside of {second:?}");

        for node in graph.nodes() {
            let (part, fate) = match second[node.index()] {
                true => (&second, then[node.index()]),
                false => (&first, came_to[node.index()]),
            };
            let behind = graph.transitive_dependents_of(node);
            let is_kept = matches!(fate, Fate::RemovalBlocked { .. });
            if is_kept && behind.iter().any(|behind| !part[behind.index()]) {
                continue;
            }
            prop_assert_eq!(there[node.index()], whole[node.index()], "what is there of node {}", node.index());
            let same = std::mem::discriminant(&fate) == std::mem::discriminant(&fates[node.index()]);
            prop_assert!(same, "node {}: {fate:?}, and {:?} in one run", node.index(), fates[node.index()]);
        }
    }

    #[test]
    fn a_part_of_all_nodes_is_the_whole(scenario in scenario()) {
        let graph = scenario.graph();
        let all = with_all_before(&graph, graph.nodes().collect());
        prop_assert_eq!(all, vec![true; graph.len()]);
    }

    #[test]
    fn a_part_s_results_take_the_place_of_those_before(
        nodes in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..12),
        further in any::<bool>(),
    ) {
        let graph = Graph::new((0..nodes.len()).map(|node| (node.to_string(), [""; 0]))).expect("a graph");
        let those = |is: fn(&(bool, bool)) -> bool| {
            nodes.iter().enumerate().filter(move |(_, node)| is(node)).map(|(node, _)| node)
        };
        // A last one that isn't declared is none of the nodes.
        let last = further.then_some(99);
        let before = result(those(|node| node.0).chain(last), &NodeState::Deleted);
        let part = result(those(|node| node.1).chain(last), &NodeState::Held { reason: String::new() });
        let merged = merged(&graph, Some(&before), &part);
        let expected: Vec<_> = graph.nodes().filter_map(|node| part.node(graph.name(node)).or_else(|| before.node(graph.name(node)))).collect();
        let told = |nodes: Vec<&NodeResult>| nodes.iter().map(|node| format!("{}: {}", node.name, node.state)).collect::<Vec<_>>();
        prop_assert_eq!(told(merged.nodes().iter().collect()), told(expected));
    }
}
