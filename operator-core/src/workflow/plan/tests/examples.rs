//! Runs by hand, for reading.

use super::*;

/// The declarations, with what the nodes answer that don't answer [`Answers::FINE`].
fn run(kind: Kind, declared: &[(&str, &[&str])], special: &[(&str, Answers)]) -> (Vec<String>, Vec<String>) {
    let graph = Graph::new(declared.iter().map(|(name, dependencies)| (*name, dependencies.iter()))).unwrap();
    let depends =
        graph.nodes().map(|node| graph.dependencies_of(node).map(NodeId::index).collect()).collect();
    let mut answers = vec![Answers::FINE; graph.len()];
    for (name, answer) in special {
        answers[graph.node(name).unwrap().index()] = *answer;
    }
    let scenario = Scenario { graph, depends, answers };
    let trace = scenario.run(kind, &[0]);
    let graph = &scenario.graph;
    let steps = trace.asked().into_iter().map(|step| {
        let verb = match step {
            Step::Check(_) => "check",
            Step::Judge(_) => "judge",
            Step::Reconcile(_) => "reconcile",
            Step::Delete(_) => "delete",
        };
        format!("{verb} {}", graph.name(step.node()))
    });
    let fates = trace.fates.iter().map(|fate| match fate {
        Fate::Blocked { by, because } => format!("Blocked by {}: {because:?}", graph.name(*by)),
        Fate::RemovalBlocked { by, because } => {
            format!("RemovalBlocked by {}: {because:?}", graph.name(*by))
        }
        own => format!("{own:?}"),
    });
    (steps.collect(), fates.collect())
}

const fn checked(checked: Checked) -> Answers {
    Answers { checked, ..Answers::FINE }
}

const fn removed(removed: Removed) -> Answers {
    Answers { removed, ..Answers::FINE }
}

const CHAIN: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["b"])];

/// `d` is behind both `b` and `c`.
const DIAMOND: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])];

#[test]
fn a_chain_is_worked_off_from_its_top() {
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &[]);
    let expected = ["check a", "reconcile a", "check b", "reconcile b", "check c", "reconcile c"];
    assert_eq!(steps, expected);
    assert_eq!(fates, ["Ready", "Ready", "Ready"]);
}

#[test]
fn a_removed_node_goes_after_what_depends_on_it() {
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Remove))]);
    assert_eq!(steps, ["check a", "judge b", "judge c", "delete c", "delete b", "delete a"]);
    assert_eq!(fates, ["Gone", "Gone", "Gone"]);
}

#[test]
fn an_inactive_node_is_not_deleted_but_what_depends_on_it_is() {
    let special = [("a", checked(Checked::Inactive)), ("b", removed(Removed::Inactive))];
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c", "delete c", "delete b"]);
    assert_eq!(fates, ["Inactive", "Inactive", "Gone"]);
}

#[test]
fn what_is_still_there_blocks_the_removal_of_what_it_needs() {
    let special = [("a", checked(Checked::Remove)), ("c", removed(Removed::NotYet))];
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c", "delete c"]);
    assert_eq!(fates, ["RemovalBlocked by c: Deleting", "RemovalBlocked by c: Deleting", "Deleting"]);
}

#[test]
fn behind_a_held_node_nothing_happens() {
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Hold))]);
    assert_eq!(steps, ["check a", "judge b", "judge c"]);
    assert_eq!(fates, ["Held", "Blocked by a: Held", "Blocked by a: Held"]);
}

#[test]
fn removal_wins_over_holding() {
    let special = [("b", checked(Checked::Hold)), ("c", checked(Checked::Remove))];
    let (steps, fates) = run(Kind::Reconcile, DIAMOND, &special);
    let expected = ["check a", "reconcile a", "check b", "check c", "judge d", "delete d", "delete c"];
    assert_eq!(steps, expected, "d is behind both, and doesn't say itself that it is held");
    assert_eq!(fates, ["Ready", "Held", "Gone", "Gone"]);
}

#[test]
fn a_hold_stops_the_removal_that_comes_down_its_chain() {
    let special = [("a", checked(Checked::Remove)), ("b", checked(Checked::Hold))];
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c"]);
    assert_eq!(fates, ["RemovalBlocked by b: Held", "Held", "Blocked by b: Held"]);
    let (steps, fates) = run(Kind::Reconcile, DIAMOND, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c", "judge d", "delete d", "delete c"]);
    assert_eq!(fates, ["RemovalBlocked by b: Held", "Held", "Gone", "Gone"]);
}

#[test]
fn a_gate_that_can_not_be_asked_matters_only_where_a_removal_needs_its_answer() {
    let special = [("a", checked(Checked::Remove)), ("b", checked(Checked::Failed))];
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c"]);
    assert_eq!(fates, ["RemovalBlocked by b: Failed", "Failed", "Blocked by b: Failed"]);
    let special = [("a", checked(Checked::Waiting)), ("b", checked(Checked::Failed))];
    let (_, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(fates, ["Waiting", "Blocked by a: Waiting", "Blocked by a: Waiting"]);
}

#[test]
fn a_node_that_is_not_wanted_goes_also_while_what_it_depends_on_is_not_ready() {
    let waiting = Answers { reconciled: Reconciled::NotReady, ..Answers::FINE };
    let special = [("a", waiting), ("b", checked(Checked::Remove))];
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(steps, ["check a", "reconcile a", "judge b", "judge c", "delete c", "delete b"]);
    assert_eq!(fates, ["NotReady", "Gone", "Gone"]);
}

#[test]
fn a_node_that_went_through_another_gate_counts_as_gone_for_one_that_closes_later() {
    let declared: &[(&str, &[&str])] =
        &[("early", &[]), ("late", &[]), ("middle", &["late"]), ("end", &["early", "middle"])];
    let graph = Graph::new(declared.iter().map(|(name, dependencies)| (*name, dependencies.iter()))).unwrap();
    let [early, late, middle, end] = [0, 1, 2, 3].map(|position| graph.nodes().nth(position).unwrap());
    let (mut plan, mut steps) = (Plan::reconcile(&graph), Vec::new());
    plan.start(&mut steps);
    plan.checked(early, Checked::Remove, &mut steps);
    plan.judged(end, Checked::Run, &mut steps);
    plan.removed(end, Removed::Gone, &mut steps);
    steps.clear();
    plan.checked(late, Checked::Remove, &mut steps);
    assert_eq!(steps, [Step::Judge(middle)]);
    steps.clear();
    plan.judged(middle, Checked::Run, &mut steps);
    assert_eq!(steps, [Step::Delete(middle)]);
}

#[test]
fn a_failure_in_a_diamond_leaves_the_other_side_alone() {
    let failing = Answers { reconciled: Reconciled::Failed, ..Answers::FINE };
    let (_, fates) = run(Kind::Reconcile, DIAMOND, &[("b", failing)]);
    assert_eq!(fates, ["Ready", "Failed", "Ready", "Blocked by b: Failed"]);
}

#[test]
fn the_nearest_is_to_blame() {
    let declared: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("z", &[]), ("c", &["b", "z"])];
    let special = [("a", checked(Checked::Failed)), ("z", checked(Checked::Waiting))];
    let (_, fates) = run(Kind::Reconcile, declared, &special);
    assert_eq!(fates, ["Failed", "Blocked by a: Failed", "Waiting", "Blocked by z: Waiting"]);
}

#[test]
fn a_clean_up_begins_at_the_bottom_and_takes_no_notice_of_gates() {
    let special = [("a", checked(Checked::Hold)), ("b", removed(Removed::Failed))];
    let (steps, fates) = run(Kind::Cleanup, DIAMOND, &special);
    assert_eq!(steps, ["delete d", "delete b", "delete c"]);
    assert_eq!(fates, ["RemovalBlocked by b: DeleteFailed", "DeleteFailed", "Gone", "Gone"]);
}

#[test]
fn a_workflow_without_nodes_ends_as_it_starts() {
    let graph = Graph::new(std::iter::empty::<(&str, [&str; 0])>()).unwrap();
    let (mut plan, mut steps) = (Plan::reconcile(&graph), Vec::new());
    assert!(!plan.is_finished());
    plan.start(&mut steps);
    assert!(plan.is_finished() && steps.is_empty());
}
