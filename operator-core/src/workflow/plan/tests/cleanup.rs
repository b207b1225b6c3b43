//! Clean-ups.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..crate::properties::daily() })]

    #[test]
    fn a_clean_up_deletes_everything_but_what_something_has_to_leave_first(
        scenario in scenarios(), order in orders(),
    ) {
        let trace = scenario.run(Kind::Cleanup, &order);
        for node in 0..scenario.depends.len() {
            let stays = |other: usize| {
                matches!(scenario.answers[other].removed, Removed::NotYet | Removed::Failed)
            };
            let expected = !scenario.behind(node).into_iter().any(stays);
            prop_assert_eq!(trace.asked().contains(&Step::Delete(scenario.node(node))), expected);
        }
    }

    #[test]
    fn conditions_of_reconciling_do_not_count_in_a_clean_up(scenario in scenarios(), order in orders()) {
        let mut other = scenario.clone();
        for answers in &mut other.answers {
            *answers = Answers { removed: answers.removed, ..Answers::FINE };
        }
        prop_assert_eq!(scenario.run(Kind::Cleanup, &order), other.run(Kind::Cleanup, &order));
    }
}
