//! The effect of each answer on the nodes behind it.

use proptest::prelude::*;

use super::*;

fn touched(trace: &Trace, node: usize, is: impl Fn(Step) -> bool) -> bool {
    trace.asked().into_iter().any(|step| step.node().index() == node && is(step))
}

/// Whether a gate removes the node: its own, or one before it, of which the removal reaches it. By the answers alone.
fn is_to_be_removed(scenario: &Scenario, trace: &Trace, node: usize) -> bool {
    let answered = |node: usize| scenario.answers[node].checked;
    let judged = |node: usize| touched(trace, node, |step| matches!(step, Step::Judge(_)));
    let goes =
        |before: &usize| answered(*before) == Checked::Inactive || is_to_be_removed(scenario, trace, *before);
    match answered(node) {
        Checked::Remove => true,
        Checked::Inactive => judged(node),
        Checked::Run => judged(node) && scenario.depends[node].iter().any(goes),
        Checked::Hold | Checked::Waiting | Checked::Failed => false,
    }
}

/// Whether the node is treated as one that may be reconciled.
const fn runs(step: Step) -> bool {
    matches!(step, Step::Check(_) | Step::Reconcile(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..crate::properties::daily() })]

    #[test]
    fn exactly_what_is_behind_a_removing_gate_is_removed(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        for node in 0..scenario.depends.len() {
            let removal = match trace.fates[node] {
                Fate::Gone | Fate::Deleting | Fate::DeleteFailed | Fate::RemovalBlocked { .. } => true,
                Fate::Inactive => touched(&trace, node, |step| matches!(step, Step::Delete(_))),
                _ => false,
            };
            prop_assert_eq!(removal, is_to_be_removed(&scenario, &trace, node), "node {}", node);
        }
    }

    #[test]
    fn what_is_behind_a_held_node_is_kept(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        let held = |node: &usize| matches!(trace.fates[*node], Fate::Held | Fate::Waiting);
        for gate in (0..scenario.depends.len()).filter(held) {
            for node in scenario.behind(gate) {
                prop_assert!(!touched(&trace, node, runs), "node {} runs behind {}, which is held", node, gate);
                if touched(&trace, node, |step| matches!(step, Step::Delete(_))) {
                    prop_assert!(is_to_be_removed(&scenario, &trace, node), "nobody removes node {}", node);
                }
            }
        }
    }

    #[test]
    fn a_held_node_stays_with_all_that_it_depends_on(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        let held = |node: &usize| matches!(trace.fates[*node], Fate::Held | Fate::Waiting);
        for gate in (0..scenario.depends.len()).filter(held) {
            for node in scenario.before(gate).into_iter().chain([gate]) {
                let deleted = touched(&trace, node, |step| matches!(step, Step::Delete(_)));
                prop_assert!(!deleted, "node {} goes, and {} is held", node, gate);
            }
        }
    }

    #[test]
    fn every_gate_is_asked_once(scenario in scenarios(), order in orders()) {
        let trace = scenario.run(Kind::Reconcile, &order);
        for node in 0..scenario.depends.len() {
            let asks = |step: &Step| step.node().index() == node && matches!(step, Step::Check(_) | Step::Judge(_));
            prop_assert_eq!(trace.asked().iter().filter(|step| asks(step)).count(), 1, "node {}", node);
        }
    }

    #[test]
    fn a_failure_stops_only_what_depends_on_it(
        scenario in scenarios(), order in orders(), which in any::<usize>(), at_check in any::<bool>(),
    ) {
        prop_assume!(!scenario.depends.is_empty());
        let which = which % scenario.depends.len();
        let (mut fine, mut failing) = (scenario.clone(), scenario.clone());
        fine.answers[which] = Answers { removed: fine.answers[which].removed, ..Answers::FINE };
        failing.answers[which] = Answers { removed: fine.answers[which].removed, ..Answers::FINE };
        if at_check {
            failing.answers[which].checked = Checked::Failed;
        } else {
            failing.answers[which].reconciled = Reconciled::Failed;
        }
        let (fine, failing) = (fine.run(Kind::Reconcile, &order), failing.run(Kind::Reconcile, &order));
        let behind = scenario.behind(which);
        // A removal that comes from those before it doesn't go past a gate that can't be asked.
        let stops = failing.fates[which] == Fate::Failed
            && touched(&failing, which, |step| matches!(step, Step::Judge(_)));
        let before = if stops { scenario.before(which) } else { Default::default() };
        let concerned = |node: &usize| *node == which || behind.contains(node) || before.contains(node);
        for node in (0..scenario.depends.len()).filter(|node| !concerned(node)) {
            prop_assert_eq!(fine.fates[node], failing.fates[node], "node {}", node);
        }
        if failing.fates[which] == Fate::Failed {
            for node in behind {
                prop_assert!(!touched(&failing, node, runs), "node {} runs behind the failed one", node);
            }
        }
        for node in before {
            let deleted = touched(&failing, node, |step| matches!(step, Step::Delete(_)));
            prop_assert!(!deleted, "node {} goes, and perhaps node {} is held", node, which);
        }
    }

    #[test]
    fn a_failed_deletion_stops_only_what_it_depends_on(
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
                let deleted = touched(&failing, node, |step| matches!(step, Step::Delete(_)));
                prop_assert!(!deleted, "node {} goes before what depends on it", node);
            }
        }
    }
}
