//! A part of a workflow does what the whole does, as far as it goes.

use proptest::prelude::*;

use super::super::{
    Answer,
    part::{outside, with_all_before},
};
use crate::{
    properties::daily,
    workflow::{
        Graph, NodeId,
        plan::{Checked, Fate, Plan, Reconciled, Removed, Step},
    },
};

/// What a node answers whenever it is asked.
#[derive(Clone, Copy, Debug)]
struct Says(Checked, Reconciled);

#[derive(Clone, Debug)]
struct Scenario {
    depends: Vec<Vec<usize>>,
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
        let masks = proptest::collection::vec(any::<u8>(), nodes);
        let flags = || proptest::collection::vec(any::<bool>(), nodes);
        (masks, proptest::collection::vec(says(), nodes), flags(), flags()).prop_map(
            |(masks, says, there, first)| {
                let before =
                    |(node, mask): (usize, u8)| (0..node).filter(|other| mask & (1 << other) != 0).collect();
                Scenario { depends: masks.into_iter().enumerate().map(before).collect(), says, there, first }
            },
        )
    })
}

impl Scenario {
    fn graph(&self) -> Graph {
        let names =
            self.depends.iter().map(|depends| depends.iter().map(ToString::to_string).collect::<Vec<_>>());
        let nodes = names.enumerate().map(|(node, depends)| (node.to_string(), depends));
        Graph::new(nodes).expect("a node depends on those before it")
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
                Step::Check(_) => Answer::Checked(checked),
                Step::Judge(_) => Answer::Judged(checked),
                Step::Reconcile(_) => {
                    touched.push(node);
                    there[node.index()] = true;
                    Answer::Reconciled(reconciled)
                }
                Step::Delete(_) => {
                    touched.push(node);
                    there[node.index()] = false;
                    Answer::Removed(Removed::Gone)
                }
            };
            answer.give(&mut plan, node, &mut steps);
        }
        (plan.fates().map(|(_, fate)| fate).collect(), touched)
    }

    fn named(&self, graph: &Graph, first: bool) -> Vec<bool> {
        let named = graph.nodes().filter(|node| self.first[node.index()] == first);
        with_all_before(graph, named.collect())
    }
}

proptest! {
    #![proptest_config(daily())]

    #[test]
    fn two_parts_that_are_the_whole_do_what_one_run_does_and_touch_nothing_outside(scenario in scenario()) {
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

        prop_assert_eq!(&there, &whole, "what is there");
        for node in graph.nodes() {
            let fate = if second[node.index()] { then[node.index()] } else { came_to[node.index()] };
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
}
