//! The effect of each answer on other nodes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn touched(trace: &Trace, node: usize, is: impl Fn(Step) -> bool) -> bool {
    trace.asked().into_iter().any(|step| step.node().index() == node && is(step))
}

/// Whether the node isn't wanted: by its own answer, or because it requires something that isn't. By the answers alone.
fn is_unwanted(scenario: &Scenario, node: usize) -> bool {
    let is_out = |other: &usize| {
        scenario.answers[*other].checked == Checked::Inactive || is_unwanted(scenario, *other)
    };
    match scenario.answers[node].checked {
        Checked::Remove => true,
        Checked::Run => scenario.requires[node].iter().any(is_out),
        Checked::Inactive | Checked::Hold | Checked::Waiting | Checked::Failed => false,
    }
}

/// Whether the node is treated as one that may be reconciled.
const fn runs(step: Step) -> bool {
    matches!(step, Step::Check(_) | Step::Reconcile(_))
}

/// Whether something of the node is removed.
const fn removes(step: Step) -> bool {
    matches!(step, Step::Sweep(_) | Step::Delete(_))
}

/// The node and others: those behind it, and all before any of these, of which removals wait for them.
fn concerned(scenario: &Scenario, node: usize) -> BTreeSet<usize> {
    let mut all = scenario.behind(node);
    all.insert(node);
    let before: Vec<_> = all.iter().map(|behind| scenario.before(*behind)).collect();
    all.extend(before.into_iter().flatten());
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..crate::properties::daily() })]

    #[test]
    fn exactly_what_nobody_wants_is_removed(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        for node in 0..scenario.depends.len() {
            let deleted = touched(&trace, node, |step| matches!(step, Step::Delete(_)));
            let waits = matches!(trace.fates[node], Fate::RemovalBlocked { .. });
            prop_assert_eq!(deleted || waits, is_unwanted(&scenario, node), "node {}", node);
        }
    }

    #[test]
    fn what_comes_after_a_held_node_does_not_run(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        for node in 0..scenario.depends.len() {
            let held = |before: &usize| matches!(trace.fates[*before], Fate::Held | Fate::Waiting);
            if scenario.awaited(node).any(|before| held(&before)) {
                prop_assert!(!touched(&trace, node, runs), "node {} runs behind one that is held", node);
            }
        }
    }

    #[test]
    fn a_held_node_stays_with_all_that_it_comes_after(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        let held = |node: &usize| matches!(trace.fates[*node], Fate::Held | Fate::Waiting);
        for gate in (0..scenario.depends.len()).filter(held) {
            for node in scenario.before(gate).into_iter().chain([gate]) {
                prop_assert!(!touched(&trace, node, removes), "node {} goes, and {} is held", node, gate);
            }
        }
    }

    #[test]
    fn every_gate_is_asked(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        for node in 0..scenario.depends.len() {
            let asks = |step| matches!(step, Step::Check(_) | Step::Judge(_));
            prop_assert!(touched(&trace, node, asks), "node {}", node);
        }
    }

    #[test]
    fn a_failure_concerns_only_what_comes_after_it_and_removals_before_that(
        scenario in scenarios(), order in orders(), which in any::<usize>(), at_check in any::<bool>(),
    ) {
        prop_assume!(!scenario.depends.is_empty());
        let which = which % scenario.depends.len();
        let (mut fine, mut failing) = (scenario.clone(), scenario.clone());
        fine.answers[which] = Answers { removed: fine.answers[which].removed, ..Answers::FINE };
        failing.answers[which] = fine.answers[which];
        if at_check {
            failing.answers[which].checked = Checked::Failed;
        } else {
            failing.answers[which].reconciled = Reconciled::Failed;
        }
        let (fine, failing) = (fine.run(Kind::Reconcile, &order), failing.run(Kind::Reconcile, &order));
        let concerned = concerned(&scenario, which);
        for node in (0..scenario.depends.len()).filter(|node| !concerned.contains(node)) {
            prop_assert_eq!(fine.fates[node], failing.fates[node], "node {}", node);
        }
        if failing.fates[which] == Fate::Failed {
            for node in (0..scenario.depends.len()).filter(|node| scenario.wait(*node, which) != Wait::No) {
                prop_assert!(!touched(&failing, node, runs), "node {} runs behind the failed one", node);
            }
            for node in scenario.before(which) {
                prop_assert!(!touched(&failing, node, removes), "node {} goes before the failed one", node);
            }
        }
    }

    #[test]
    fn a_failed_deletion_stops_only_what_comes_before_it(
        scenario in scenarios(), order in orders(), which in any::<usize>(),
        kind in prop_oneof![Just(Kind::Reconcile), Just(Kind::Cleanup)],
    ) {
        prop_assume!(!scenario.depends.is_empty());
        let which = which % scenario.depends.len();
        let (mut fine, mut failing) = (scenario.clone(), scenario.clone());
        fine.answers[which].removed = Removed::Gone;
        failing.answers[which].removed = Removed::Failed;
        let (fine, failing) = (fine.run(kind, &order), failing.run(kind, &order));
        let before = scenario.before(which);
        for node in (0..scenario.depends.len()).filter(|node| *node != which && !before.contains(node)) {
            prop_assert_eq!(fine.fates[node], failing.fates[node], "node {}", node);
        }
        if failing.fates[which] == Fate::DeleteFailed {
            for node in before {
                prop_assert!(!touched(&failing, node, removes), "node {} goes before what comes after it", node);
            }
        }
    }
}
