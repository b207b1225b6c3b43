//! Properties of both kinds of runs: the order of steps, the end of runs, and their determinism.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{scenario::Driven, *};

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![2 => Just(Kind::Reconcile), 1 => Just(Kind::Cleanup)]
}

/// Whether the step applies something.
const fn applies(step: Step) -> bool {
    matches!(step, Step::Check(_) | Step::Judge(_) | Step::Reconcile(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..crate::properties::daily() })]

    #[test]
    fn a_node_runs_once_what_it_comes_after_is_ready_or_out(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        let out = |node: &usize| trace.fates[*node].is_out();
        let (mut applied, mut answered) = (BTreeSet::new(), BTreeSet::new());
        for event in &trace.events {
            match *event {
                Event::Asked(step @ (Step::Check(node) | Step::Reconcile(node))) => {
                    for before in &scenario.depends[node.index()] {
                        let is_far_enough = match scenario.wait(node.index(), *before) {
                            Wait::No => true,
                            Wait::Applied => applied.contains(before),
                            Wait::Ready => applied.contains(before) && trace.fates[*before] != Fate::NotReady,
                        };
                        let passed = is_far_enough || (out(before) && answered.contains(before));
                        prop_assert!(passed, "{step:?} comes before node {before} has come to an end");
                    }
                }
                Event::Answered(Step::Reconcile(node)) => {
                    applied.insert(node.index());
                }
                Event::Answered(Step::Check(node) | Step::Judge(node)) => {
                    answered.insert(node.index());
                }
                _ => {}
            }
        }
    }

    #[test]
    fn nothing_is_removed_before_all_is_applied(scenario in scenarios(), kind in kinds(), order in orders()) {
        let trace = scenario.run(kind, &order);
        let first = trace.events.iter().position(|event| matches!(event, Event::Asked(step) if !applies(*step)));
        for event in &trace.events[first.unwrap_or(trace.events.len())..] {
            prop_assert!(!matches!(event, Event::Asked(step) | Event::Answered(step) if applies(*step)));
        }
    }

    #[test]
    fn something_goes_once_everything_behind_it_was_brought_about_without_it(
        scenario in scenarios(), kind in kinds(), order in orders(),
    ) {
        let trace = scenario.run(kind, &order);
        let mut done = BTreeSet::new();
        for event in &trace.events {
            match *event {
                Event::Asked(step @ (Step::Sweep(node) | Step::Delete(node))) => {
                    for behind in scenario.behind(node.index()) {
                        let fine = match trace.fates[behind] {
                            Fate::Inactive => true,
                            Fate::Ready | Fate::NotReady | Fate::Gone => done.contains(&behind),
                            _ => false,
                        };
                        prop_assert!(fine, "{step:?}, and node {behind} behind it is {:?}", trace.fates[behind]);
                    }
                }
                Event::Answered(Step::Sweep(node) | Step::Delete(node)) => {
                    done.insert(node.index());
                }
                _ => {}
            }
        }
    }

    #[test]
    fn steps_and_fates_are_those_of_the_model(scenario in scenarios(), kind in kinds(), order in orders()) {
        let trace = scenario.run(kind, &order);
        let model = Model::of(kind, &scenario);
        let asked = trace.asked();
        let of = |is: fn(Step) -> bool| -> BTreeSet<usize> {
            asked.iter().filter(|step| is(**step)).map(|step| step.node().index()).collect()
        };
        prop_assert_eq!(of(|step| matches!(step, Step::Sweep(_))), model.swept.clone());
        prop_assert_eq!(of(|step| matches!(step, Step::Delete(_))), model.deleted.clone());
        prop_assert_eq!(trace.fates, model.fates(&scenario));
    }

    #[test]
    fn a_run_ends_and_leaves_no_node_out(scenario in scenarios(), kind in kinds(), order in orders()) {
        let trace = scenario.run(kind, &order);
        let mut times: BTreeMap<Step, usize> = BTreeMap::new();
        for step in trace.asked() {
            *times.entry(step).or_default() += 1;
        }
        for (step, times) in times {
            let is_open = scenario.answers[step.node().index()].reconciled == Reconciled::Open;
            let most = if matches!(step, Step::Reconcile(_)) && is_open { 2 } else { 1 };
            prop_assert!(times <= most, "{step:?} is asked for {times} times");
        }
        prop_assert!(!trace.fates.contains(&Fate::Pending), "{:?}", trace.fates);
    }

    #[test]
    fn the_same_answers_give_the_same_decisions(scenario in scenarios(), kind in kinds(), order in orders()) {
        prop_assert_eq!(scenario.run(kind, &order), scenario.run(kind, &order));
    }

    #[test]
    fn the_order_of_the_answers_changes_no_fate(
        scenario in scenarios(), kind in kinds(), order in orders(), other in orders(),
    ) {
        let (one, other) = (scenario.run(kind, &order), scenario.run(kind, &other));
        let lasting = |trace: &Trace| -> BTreeSet<Step> {
            trace.asked().into_iter().filter(|step| !matches!(step, Step::Judge(_))).collect()
        };
        prop_assert_eq!(lasting(&one), lasting(&other));
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
        let mut plan = Driven::new(kind, &scenario);
        let (mut open, mut steps, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        plan.start(&mut open);
        plan.start(&mut steps);
        prop_assert_eq!(&steps, &[], "a run starts once");
        while let Some(step) = open.pop() {
            let before = plan.fates();
            for node in scenario.graph.nodes() {
                let of_reconcile =
                    [Step::Check(node), Step::Judge(node), Step::Reconcile(node), Step::Sweep(node)];
                let possible = of_reconcile.into_iter().filter(|_| kind == Kind::Reconcile);
                for strange in possible.chain([Step::Delete(node)]) {
                    let answers = scenario.answers[(node.index() + noise as usize) % scenario.answers.len()];
                    if strange != step && !open.contains(&strange) {
                        plan.answer(strange, answers, false, &mut steps);
                    }
                }
            }
            prop_assert_eq!(&steps, &[]);
            prop_assert_eq!(before, plan.fates());
            plan.answer(step, scenario.answers[step.node().index()], asked.contains(&step), &mut open);
            asked.push(step);
        }
        prop_assert!(plan.is_finished());
        prop_assert_eq!(plan.fates(), Model::of(kind, &scenario).fates(&scenario));
    }
}
