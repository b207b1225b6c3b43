//! What each answer does to the nodes behind it.

use proptest::prelude::*;

use super::*;

fn touched(trace: &Trace, node: usize, is: impl Fn(Step) -> bool) -> bool {
    trace.asked().into_iter().any(|step| step.node().index() == node && is(step))
}

/// Whether a gate that was come to removes the node, by the answers alone.
fn is_to_be_removed(scenario: &Scenario, trace: &Trace, node: usize) -> bool {
    let closes = |gate: usize| {
        let removes = match scenario.answers[gate].checked {
            Checked::Remove => true,
            Checked::Inactive => gate != node,
            _ => false,
        };
        removes && touched(trace, gate, |step| matches!(step, Step::Check(_)))
    };
    closes(node) || scenario.before(node).into_iter().any(closes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

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
                let runs = touched(&trace, node, |step| !matches!(step, Step::Delete(_)));
                prop_assert!(!runs, "node {} runs behind {}, which is held", node, gate);
                if touched(&trace, node, |step| matches!(step, Step::Delete(_))) {
                    prop_assert!(is_to_be_removed(&scenario, &trace, node), "nobody removes node {}", node);
                }
            }
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
        for node in (0..scenario.depends.len()).filter(|node| *node != which && !behind.contains(node)) {
            prop_assert_eq!(fine.fates[node], failing.fates[node], "node {}", node);
        }
        if failing.fates[which] == Fate::Failed {
            for node in behind {
                let runs = touched(&failing, node, |step| !matches!(step, Step::Delete(_)));
                prop_assert!(!runs, "node {} runs behind the failed one", node);
            }
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
