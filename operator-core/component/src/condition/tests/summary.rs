//! One row of many, against the table of reasons.

use proptest::prelude::*;

use super::*;
use crate::health::tests::table::{self, Line};

/// The line that is told of several, by the table alone: false before true, then the highest priority, then the first.
fn governing<'l>(lines: &[&'l Line]) -> Option<&'l Line> {
    let mut found: Option<&Line> = None;
    for line in lines {
        let is_worse = found.is_none_or(|found| {
            if found.is_true == line.is_true { line.priority > found.priority } else { found.is_true }
        });
        if is_worse {
            found = Some(line);
        }
    }
    found
}

#[test]
fn of_each_pair_in_the_table_the_worse_one_is_told() {
    let lines = table::lines();
    for one in lines {
        for other in lines {
            let parts = [part(one.reason, "one"), part(other.reason, "other")];
            let row = judge(&Stage::On, &parts, &Before::default(), None, at(0)).row;
            let unready: Vec<&Line> =
                [one, other].into_iter().filter(|line| line.kind != "healthy").collect();
            let Some(worst) = governing(&unready) else {
                assert_eq!(told(&row), "True/Healthy: Component is healthy.");
                continue;
            };
            assert_eq!(row.reason, worst.reason, "{} and {}", one.reason, other.reason);
            assert_eq!(row.reason.status().as_str() == "True", worst.is_true);
            let together = |line: &&(&Line, &str)| {
                line.0.reason == worst.reason || (worst.class.is_some() && line.0.class == worst.class)
            };
            let texts: Vec<&str> =
                [(one, "one"), (other, "other")].iter().filter(together).map(|(_, text)| *text).collect();
            assert_eq!(row.message, texts.join("; "), "{} and {}", one.reason, other.reason);
        }
    }
}

#[test]
fn the_texts_of_a_class_are_told_together() {
    let rows: [(&[(Reason, &str)], &str); 6] = [
        (&[], "True/Healthy: Component is healthy."),
        (&[(Reason::Creating, "a"), (Reason::Updating, "b"), (Reason::Scaling, "c")], "False/Scaling: c"),
        (
            &[(Reason::Failing, "a"), (Reason::OperationFailing, "b"), (Reason::TaskFailing, "c")],
            "False/Failing: a; b; c",
        ),
        (
            &[(Reason::Creating, "a"), (Reason::OperationPending, "b"), (Reason::Blocked, "c")],
            "False/Blocked: a; b; c",
        ),
        (
            &[(Reason::Healthy, "a"), (Reason::OperationPending, ""), (Reason::TaskPending, "c")],
            "False/OperationPending: c",
        ),
        (&[(Reason::Error, "a"), (Reason::Failing, "b"), (Reason::Error, "c")], "False/Error: a; c"),
    ];
    for (parts, expected) in rows {
        let parts: Vec<Part> = parts.iter().map(|(reason, text)| part(*reason, text)).collect();
        let row = judge(&Stage::On, &parts, &Before::default(), None, at(0)).row;
        assert_eq!(told(&row), expected);
    }
}

#[test]
fn all_components_have_to_be_true() {
    let rows: [(&[Option<Reason>], &str); 9] = [
        (&[Some(Reason::Healthy), Some(Reason::Healthy)], "True/Healthy: 0: text"),
        (&[Some(Reason::Healthy), Some(Reason::Failing)], "False/Failing: 1: text"),
        (&[Some(Reason::Suspended), Some(Reason::Failing)], "False/Failing: 1: text"),
        (&[Some(Reason::Suspended), Some(Reason::Suspended)], "True/Suspended: 0: text"),
        (&[Some(Reason::Suspended), Some(Reason::Healthy)], "True/Suspended: 0: text"),
        (&[Some(Reason::Healthy), Some(Reason::Disabled)], "True/Disabled: 1: text"),
        (&[Some(Reason::Healthy), None], "False/Unknown: 1: Component has not been reconciled yet."),
        (&[Some(Reason::Error), None], "False/Error: 0: text"),
        (&[], "False/Unknown: No components were aggregated."),
    ];
    for (reasons, expected) in rows {
        let rows: Vec<Option<Row>> =
            reasons.iter().map(|reason| reason.map(|reason| Row::new(reason, "text"))).collect();
        let names = ["0", "1"];
        let row = ready(names.into_iter().zip(&rows).map(|(name, row)| (name, row.as_ref())));
        assert_eq!(told(&row), expected);
    }
    let silent = Row::new(Reason::Creating, "");
    assert_eq!(told(&ready([("web", Some(&silent))])), "False/Creating: web");
}

#[test]
fn a_component_that_has_not_started_says_for_which_condition_it_waits() {
    let state = Row::new(Reason::Creating, "Database is still creating resources");
    assert_eq!(
        prerequisite_not_met("DatabaseReady", Some(&state)),
        "Prerequisite not met: waiting for condition \"DatabaseReady\" to become True (currently False: Database is \
         still creating resources)"
    );
    assert_eq!(
        prerequisite_not_met("DatabaseReady", None),
        "Prerequisite not met: waiting for condition \"DatabaseReady\" to become True (currently False: Component has \
         not been reconciled yet.)"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..crate::properties::daily() })]

    #[test]
    fn ready_is_what_the_table_says(chosen in prop::collection::vec(prop::option::of(0_usize..23), 0..7)) {
        let lines = table::lines();
        let names: Vec<String> = (0..chosen.len()).map(|at| format!("c{at}")).collect();
        let rows: Vec<Option<Row>> =
            chosen.iter().map(|line| line.map(|line| Row::new(lines[line].reason, format!("text {line}")))).collect();
        let row = ready(names.iter().zip(&rows).map(|(name, row)| (name.as_str(), row.as_ref())));
        // The last line is that of Unknown.
        let seen: Vec<&Line> = chosen.iter().map(|line| &lines[line.unwrap_or(22)]).collect();
        let all_true = !seen.is_empty() && seen.iter().all(|line| line.is_true);
        prop_assert_eq!(row.reason.status().as_str(), if all_true { "True" } else { "False" });
        let worst = seen
            .iter()
            .enumerate()
            .filter(|(_, line)| all_true || !line.is_true)
            .max_by_key(|(at, line)| (line.priority, usize::MAX - at));
        match worst {
            None => prop_assert_eq!(row.reason, Reason::Unknown),
            Some((at, line)) => {
                prop_assert_eq!(row.reason, line.reason);
                let text = match chosen[at] {
                    Some(line) => format!("c{at}: text {line}"),
                    None => format!("c{at}: Component has not been reconciled yet."),
                };
                prop_assert_eq!(row.message, text);
            }
        }
    }

    #[test]
    fn the_order_of_nodes_changes_no_reason(chosen in prop::collection::vec(0_usize..23, 0..7)) {
        let lines = table::lines();
        let mut parts: Vec<Part> = chosen.iter().map(|line| part(lines[*line].reason, "")).collect();
        let first = judge(&Stage::On, &parts, &Before::default(), None, at(0)).row.reason;
        parts.reverse();
        let again = judge(&Stage::On, &parts, &Before::default(), None, at(0)).row.reason;
        prop_assert_eq!(first.priority(), again.priority());
        prop_assert_eq!(first.status(), again.status());
    }
}
