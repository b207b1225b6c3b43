//! Runs by hand, for reading.

use super::*;

/// The declarations, with what the nodes answer that don't answer [`Answers::FINE`]. A name with `!` is required, with `>` it
/// only has to be applied; the node starts after one with `?`, or `.` if it has started.
fn run(
    kind: Kind,
    declared: &[(&str, &[&'static str])],
    special: &[(&str, Answers)],
) -> (Vec<String>, Vec<String>) {
    run_with_reads(kind, declared, special, &[])
}

/// The same; of each pair in `reads` the second node reads what the first one has made.
fn run_with_reads(
    kind: Kind,
    declared: &[(&str, &[&'static str])],
    special: &[(&str, Answers)],
    reads: &[(&str, &str)],
) -> (Vec<String>, Vec<String>) {
    let bare = |name: &'static str| name.trim_end_matches(['!', '>', '?', '.']);
    let word = |name: &&'static str| {
        let word = match name.as_bytes().last() {
            Some(b'!') => Word::Requires,
            Some(b'>') => Word::InOrder,
            Some(b'?' | b'.') => Word::StartsAfter,
            _ => Word::After,
        };
        (bare(name), word)
    };
    let words = declared.iter().map(|(name, others)| (*name, others.iter().map(word).collect::<Vec<_>>()));
    let graph = Graph::of_words(words).unwrap();
    let of = |edges: &dyn Fn(NodeId) -> Vec<NodeId>| {
        graph.nodes().map(|node| edges(node).into_iter().map(NodeId::index).collect()).collect()
    };
    let depends = of(&|node| graph.dependencies_of(node).collect());
    let by = |word: Word| {
        of(&|node| {
            graph.edges_to(node).filter(|(_, words)| words.has(word)).map(|(other, _)| other).collect()
        })
    };
    let (requires, starts, in_order) = (by(Word::Requires), by(Word::StartsAfter), by(Word::InOrder));
    let position = |name: &str| graph.node(name).unwrap().index();
    let unstarted = declared.iter().flat_map(|(name, others)| {
        let others = others.iter().filter(|other| other.ends_with('?'));
        others.map(move |other| (position(name), position(bare(other))))
    });
    let unstarted = unstarted.collect();
    let mut answers = vec![Answers::FINE; graph.len()];
    for (name, answer) in special {
        answers[graph.node(name).unwrap().index()] = *answer;
    }
    let at = |name: &str| graph.node(name).unwrap().index();
    let reads = reads.iter().map(|(made, by)| (at(made), at(by))).collect();
    let scenario = Scenario { graph, depends, requires, starts, in_order, unstarted, reads, answers };
    let trace = scenario.run(kind, &[0]);
    let graph = &scenario.graph;
    let steps = trace.asked().into_iter().filter_map(|step| {
        let verb = match step {
            Step::Check(_) => "check",
            Step::Judge(_) => "judge",
            Step::Reconcile(_) => "reconcile",
            // Every node that was reconciled is swept, from the far end.
            Step::Sweep(_) => return None,
            Step::Delete(_) => "delete",
        };
        Some(format!("{verb} {}", graph.name(step.node())))
    });
    let fates = trace.fates.iter().map(|fate| match fate {
        Fate::Blocked { by, because } => format!("Blocked by {}: {because:?}", graph.name(*by)),
        Fate::Starting { by, because } => format!("Starting after {}: {because:?}", graph.name(*by)),
        Fate::RemovalBlocked { by, because } => {
            format!("RemovalBlocked by {}: {because:?}", graph.name(*by))
        }
        own => format!("{own:?}"),
    });
    (steps.collect(), fates.collect())
}

const fn reconciled(reconciled: Reconciled) -> Answers {
    Answers { reconciled, ..Answers::FINE }
}

const fn checked(checked: Checked) -> Answers {
    Answers { checked, ..Answers::FINE }
}

const fn removed(removed: Removed) -> Answers {
    Answers { removed, ..Answers::FINE }
}

const CHAIN: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["b"])];

/// The same by the stronger word.
const STRONG: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a!"]), ("c", &["b!"])];

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
fn what_comes_after_a_node_that_is_not_wanted_stays_and_that_node_goes_last() {
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Remove))]);
    assert_eq!(steps, ["check a", "check b", "reconcile b", "check c", "reconcile c", "delete a"]);
    assert_eq!(fates, ["Gone", "Ready", "Ready"]);
}

#[test]
fn what_requires_a_node_that_is_not_wanted_goes_before_it() {
    let (steps, fates) = run(Kind::Reconcile, STRONG, &[("a", checked(Checked::Remove))]);
    assert_eq!(steps, ["check a", "judge b", "judge c", "delete c", "delete b", "delete a"]);
    assert_eq!(fates, ["Gone", "Gone", "Gone"]);
}

#[test]
fn a_node_that_takes_no_part_is_left_and_only_what_requires_it_goes() {
    let inactive = checked(Checked::Inactive);
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &[("a", inactive)]);
    assert_eq!(steps, ["check a", "check b", "reconcile b", "check c", "reconcile c"]);
    assert_eq!(fates, ["Inactive", "Ready", "Ready"]);
    let special = [("a", inactive), ("b", removed(Removed::Inactive))];
    let (steps, fates) = run(Kind::Reconcile, STRONG, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c", "delete c", "delete b"]);
    assert_eq!(fates, ["Inactive", "Inactive", "Gone"]);
}

#[test]
fn what_is_still_there_blocks_the_removal_of_what_it_requires() {
    let special = [("a", checked(Checked::Remove)), ("c", removed(Removed::NotYet))];
    let (steps, fates) = run(Kind::Reconcile, STRONG, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c", "delete c"]);
    assert_eq!(fates, ["RemovalBlocked by c: Deleting", "RemovalBlocked by c: Deleting", "Deleting"]);
}

#[test]
fn what_was_applied_keeps_nothing_even_if_it_is_not_ready() {
    let special = [
        ("a", checked(Checked::Remove)),
        ("c", Answers { reconciled: Reconciled::NotReady, ..Answers::FINE }),
    ];
    let (_, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(fates, ["Gone", "Ready", "NotReady"]);
}

#[test]
fn what_could_not_be_brought_about_keeps_all_before_it() {
    let waiting = Answers { reconciled: Reconciled::NotReady, ..Answers::FINE };
    let (_, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Remove)), ("b", waiting)]);
    assert_eq!(fates, ["RemovalBlocked by c: Blocked", "NotReady", "Blocked by b: NotReady"]);
    let failing = Answers { reconciled: Reconciled::Failed, ..Answers::FINE };
    let (_, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Remove)), ("c", failing)]);
    assert_eq!(fates, ["RemovalBlocked by c: Failed", "Ready", "Failed"]);
    let keeping = Answers { swept: Swept::Kept, ..Answers::FINE };
    let (_, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Remove)), ("c", keeping)]);
    assert_eq!(fates, ["RemovalBlocked by c: Keeping", "Ready", "Ready"]);
}

#[test]
fn behind_a_held_node_nothing_happens() {
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &[("a", checked(Checked::Hold))]);
    assert_eq!(steps, ["check a", "judge b", "judge c"]);
    assert_eq!(fates, ["Held", "Blocked by a: Held", "Blocked by a: Held"]);
}

#[test]
fn a_hold_stops_the_removal_that_comes_down_its_chain() {
    let special = [("a", checked(Checked::Remove)), ("b", checked(Checked::Hold))];
    let (steps, fates) = run(Kind::Reconcile, STRONG, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c"]);
    assert_eq!(fates, ["RemovalBlocked by b: Held", "Held", "Blocked by b: Held"]);
}

#[test]
fn a_gate_that_can_not_be_asked_matters_only_where_a_removal_needs_its_answer() {
    let special = [("a", checked(Checked::Remove)), ("b", checked(Checked::Failed))];
    let (steps, fates) = run(Kind::Reconcile, STRONG, &special);
    assert_eq!(steps, ["check a", "judge b", "judge c"]);
    assert_eq!(fates, ["RemovalBlocked by b: Failed", "Failed", "Blocked by b: Failed"]);
    let special = [("a", checked(Checked::Waiting)), ("b", checked(Checked::Failed))];
    let (_, fates) = run(Kind::Reconcile, CHAIN, &special);
    assert_eq!(fates, ["Waiting", "Blocked by a: Waiting", "Blocked by a: Waiting"]);
}

#[test]
fn a_node_that_is_not_wanted_goes_also_while_what_it_comes_after_is_not_ready() {
    let waiting = Answers { reconciled: Reconciled::NotReady, ..Answers::FINE };
    let special = [("a", waiting), ("b", checked(Checked::Remove))];
    let (steps, fates) = run(Kind::Reconcile, CHAIN, &special);
    let all = ["check a", "reconcile a", "judge b", "judge c", "check c", "reconcile c", "delete b"];
    assert_eq!(steps, all, "c waits for b alone");
    assert_eq!(fates, ["NotReady", "Gone", "Ready"]);
}

#[test]
fn what_may_come_out_otherwise_is_asked_once_more_when_nothing_else_can_be_done() {
    let declared: &[(&str, &[&str])] =
        &[("reader", &[]), ("web", &["reader"]), ("one", &[]), ("two", &["one"])];
    let open = Answers { reconciled: Reconciled::Open, ..Answers::FINE };
    let (steps, fates) = run(Kind::Reconcile, declared, &[("reader", open)]);
    let before =
        ["check reader", "check one", "reconcile reader", "reconcile one", "check two", "reconcile two"];
    assert_eq!(steps[..6], before);
    assert_eq!(steps[6..], ["judge web", "reconcile reader", "check web", "reconcile web"]);
    assert_eq!(fates, ["Ready", "Ready", "Ready", "Ready"]);
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
fn what_is_read_goes_after_those_behind_its_reader() {
    let nodes: &[(&str, &[&str])] = &[("secret", &[]), ("reader", &[]), ("web", &["reader"])];
    let unwanted = ("secret", checked(Checked::Remove));
    let read = [("secret", "reader")];
    let not_ready = Answers { reconciled: Reconciled::NotReady, ..Answers::FINE };
    let special = [unwanted, ("reader", not_ready)];
    let (steps, fates) = run_with_reads(Kind::Reconcile, nodes, &special, &read);
    assert!(!steps.contains(&"delete secret".to_owned()), "the web still names it");
    assert_eq!(fates[0], "RemovalBlocked by web: Blocked");
    let (_, fates) = run_with_reads(Kind::Reconcile, nodes, &[unwanted], &read);
    assert_eq!(fates, ["Gone", "Ready", "Ready"]);
    let (steps, _) = run_with_reads(Kind::Cleanup, nodes, &[], &read);
    assert_eq!(steps, ["delete web", "delete reader", "delete secret"]);
    // A circle: the maker comes after its reader.
    let circle: &[(&str, &[&str])] = &[("reader", &[]), ("secret", &["reader"])];
    let (steps, _) = run_with_reads(Kind::Cleanup, circle, &[], &read);
    assert_eq!(steps, ["delete secret", "delete reader"]);
}

#[test]
fn a_workflow_without_nodes_ends_as_it_starts() {
    let graph = Graph::new(std::iter::empty::<(&str, [&str; 0])>()).unwrap();
    let (mut plan, mut steps) = (Plan::reconcile(&graph), Vec::new());
    assert!(!plan.is_finished());
    plan.start(&mut steps);
    assert!(plan.is_applied() && steps.is_empty());
    plan.remove(&[], &mut steps);
    assert!(plan.is_finished() && steps.is_empty());
}

#[test]
fn a_node_that_has_started_does_not_wait_for_what_it_starts_after() {
    let not_ready = [("database", reconciled(Reconciled::NotReady))];
    let (steps, fates) = run(Kind::Reconcile, &[("database", &[]), ("web", &["database?"])], &not_ready);
    assert_eq!(steps, ["check database", "reconcile database", "judge web"]);
    assert_eq!(fates, ["NotReady", "Starting after database: NotReady"]);
    let (steps, fates) = run(Kind::Reconcile, &[("database", &[]), ("web", &["database."])], &not_ready);
    assert_eq!(steps, ["check database", "check web", "reconcile database", "reconcile web"]);
    assert_eq!(fates, ["NotReady", "Ready"]);
}

#[test]
fn what_is_in_order_waits_until_the_other_one_was_applied() {
    let declared: [(&str, &[&str]); 3] =
        [("config", &[]), ("server", &["config>"]), ("worker", &["config>", "server>"])];
    let (_, fates) = run(Kind::Reconcile, &declared, &[("config", reconciled(Reconciled::NotReady))]);
    assert_eq!(fates, ["NotReady", "Ready", "Ready"]);
    let (_, fates) = run(Kind::Reconcile, &declared, &[("config", checked(Checked::Hold))]);
    assert_eq!(fates, ["Held", "Blocked by config: Held", "Blocked by config: Held"]);
    let (_, fates) = run(Kind::Reconcile, &declared, &[("server", checked(Checked::Remove))]);
    assert_eq!(fates, ["Ready", "Gone", "Ready"]);
}
