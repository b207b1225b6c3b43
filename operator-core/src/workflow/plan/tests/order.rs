//! Properties of both kinds of runs: the order of steps, the end of runs, and their determinism.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{scenario::Driven, *};

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![2 => Just(Kind::Reconcile), 1 => Just(Kind::Cleanup)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..crate::properties::daily() })]

    #[test]
    fn an_edge_is_never_violated(scenario in scenarios(), kind in kinds(), order in orders()) {
        let trace = scenario.run(kind, &order);
        let (mut ready, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for event in trace.events {
            match event {
                Event::Asked(Step::Check(node) | Step::Reconcile(node)) => {
                    let depends = &scenario.depends[node.index()];
                    prop_assert!(depends.is_subset(&ready), "{node:?} runs before what it depends on");
                }
                Event::Asked(Step::Delete(node)) => {
                    let depends = |other: &usize| scenario.depends[*other].contains(&node.index());
                    let dependents: BTreeSet<usize> = (0..scenario.depends.len()).filter(depends).collect();
                    prop_assert!(dependents.is_subset(&gone), "{node:?} goes before what depends on it");
                }
                Event::Asked(Step::Judge(node)) => {
                    let depends = &scenario.depends[node.index()];
                    prop_assert!(!depends.is_subset(&ready), "{node:?} could run, and is only judged");
                }
                Event::Answered(Step::Check(_) | Step::Judge(_)) => {}
                Event::Answered(Step::Reconcile(node)) => {
                    if scenario.answers[node.index()].reconciled == Reconciled::Ready {
                        ready.insert(node.index());
                    }
                }
                Event::Answered(Step::Delete(node)) => {
                    if matches!(scenario.answers[node.index()].removed, Removed::Gone | Removed::Inactive) {
                        gone.insert(node.index());
                    }
                }
            }
        }
    }

    #[test]
    fn everything_that_can_be_done_is_asked_for_at_once(
        scenario in scenarios(), kind in kinds(), order in orders(),
    ) {
        let trace = scenario.run(kind, &order);
        let (mut asked, mut answered) = (BTreeSet::new(), BTreeSet::new());
        for (position, event) in trace.events.iter().enumerate() {
            match event {
                Event::Asked(step) => prop_assert!(asked.insert(*step), "{step:?} is asked for twice"),
                Event::Answered(step) => {
                    answered.insert(*step);
                }
            }
            // A plan may have requested several steps at once; they are compared when all have been listed.
            if !matches!(trace.events.get(position + 1), Some(Event::Asked(_))) {
                let model = Model::of(kind, &scenario, |step| answered.contains(&step));
                prop_assert_eq!(&asked, &model.asked(&scenario));
            }
        }
    }

    #[test]
    fn fates_are_those_of_the_model(scenario in scenarios(), kind in kinds(), order in orders()) {
        let trace = scenario.run(kind, &order);
        let model = Model::of(kind, &scenario, |_| true);
        prop_assert_eq!(trace.fates, model.fates(&scenario));
    }

    #[test]
    fn a_run_ends_and_leaves_no_node_out(scenario in scenarios(), kind in kinds(), order in orders()) {
        let trace = scenario.run(kind, &order);
        let mut asked = trace.asked();
        let count = asked.len();
        asked.sort_unstable();
        asked.dedup();
        prop_assert_eq!(asked.len(), count, "a step is asked for at most once");
        prop_assert!(!trace.fates.contains(&Fate::Pending), "{:?}", trace.fates);
        for fate in &trace.fates {
            match *fate {
                Fate::Blocked { by, because } => {
                    prop_assert_eq!(trace.fates[by.index()].obstacle(), Some(because));
                }
                Fate::RemovalBlocked { by, because } => {
                    prop_assert_eq!(trace.fates[by.index()].removal_obstacle(), Some(because));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn the_same_answers_give_the_same_decisions(scenario in scenarios(), kind in kinds(), order in orders()) {
        prop_assert_eq!(scenario.run(kind, &order), scenario.run(kind, &order));
    }

    #[test]
    fn the_order_of_the_answers_changes_neither_steps_nor_fates(
        scenario in scenarios(), kind in kinds(), order in orders(), other in orders(),
    ) {
        let (one, other) = (scenario.run(kind, &order), scenario.run(kind, &other));
        let steps = |trace: &Trace| trace.asked().into_iter().collect::<BTreeSet<_>>();
        prop_assert_eq!(steps(&one), steps(&other));
        prop_assert_eq!(one.fates, other.fates);
    }

    #[test]
    fn steps_that_are_asked_for_together_stand_in_the_order_of_the_declarations(
        scenario in scenarios(), kind in kinds(), order in orders(),
    ) {
        let trace = scenario.run(kind, &order);
        for pair in trace.events.windows(2) {
            if let [Event::Asked(one), Event::Asked(other)] = pair {
                prop_assert!(one.node() < other.node(), "{one:?} before {other:?}");
            }
        }
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_ignored(
        scenario in scenarios(), kind in kinds(), noise in any::<u32>(),
    ) {
        let mut plan = Driven::new(kind, &scenario.graph);
        let (mut open, mut steps) = (Vec::new(), Vec::new());
        let mut asked = Vec::new();
        plan.start(&mut open);
        plan.start(&mut steps);
        prop_assert_eq!(&steps, &[], "a run starts once");
        while let Some(step) = open.pop() {
            asked.push(step);
            let before = plan.fates();
            for node in scenario.graph.nodes() {
                let of_reconcile = [Step::Check(node), Step::Judge(node), Step::Reconcile(node)];
                let possible = of_reconcile.into_iter().filter(|_| kind == Kind::Reconcile);
                for strange in possible.chain([Step::Delete(node)]) {
                    let answers = scenario.answers[(node.index() + noise as usize) % scenario.answers.len()];
                    if strange != step && !open.contains(&strange) {
                        plan.answer(strange, answers, &mut steps);
                    }
                }
            }
            prop_assert_eq!(&steps, &[]);
            prop_assert_eq!(before, plan.fates());
            plan.answer(step, scenario.answers[step.node().index()], &mut open);
        }
        prop_assert!(plan.is_finished());
        let model = Model::of(kind, &scenario, |_| true);
        prop_assert_eq!(asked.into_iter().collect::<BTreeSet<_>>(), model.asked(&scenario));
        prop_assert_eq!(plan.fates(), model.fates(&scenario));
    }
}
