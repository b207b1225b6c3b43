//! Deletion, recreation, finalizers.

use super::*;

#[test]
fn a_deleted_primary_is_forgotten_with_its_timers() {
    for outcome in [
        SUCCESS,
        FAILURE,
        REFUSAL,
        Outcome::Gone,
        Outcome::Success { reschedule: Some(Reschedule::After(millis(1))) },
    ] {
        let mut bench = Bench::new();
        let run = bench.changed("a", Cause::Created).run();
        bench.finished(&run, outcome);
        bench.deleted("a").idle();
        assert_eq!(bench.effects, [Effect::Forgotten(key("a"))]);
        bench.empty();
    }
}

#[test]
fn a_queued_primary_that_is_deleted_leaves_the_queue() {
    let mut bench = Bench::started(MachineConfig { max_concurrent: 1, ..MachineConfig::default() });
    let run = bench.changed("a", Cause::Created).run();
    bench.changed("b", Cause::Created).idle();
    bench.deleted("b");
    assert_eq!(bench.effects, [Effect::Withdrawn(key("b")), Effect::Forgotten(key("b"))]);
    bench.deleted("a").finished(&run, SUCCESS).idle().empty();
}

#[test]
fn a_delete_during_a_run_keeps_the_key_taken_until_the_run_ends() {
    let outcomes = [SUCCESS, FAILURE, REFUSAL, Outcome::Gone, Outcome::Abandoned, Outcome::FinalizerRemoved];
    for outcome in outcomes {
        let mut bench = Bench::new();
        let run = bench.changed("a", Cause::Created).run();
        bench.related("a");
        bench.deleted("a").idle();
        assert_eq!(bench.effects, [], "not forgotten yet");
        bench.related("a").idle();
        bench.finished(&run, outcome).idle();
        assert_eq!(bench.effects, [Effect::Forgotten(key("a"))], "{outcome:?}");
        bench.empty();
    }
}

#[test]
fn an_object_recreated_during_a_run_waits_for_its_end_and_starts_afresh() {
    for deletion_is_seen in [true, false] {
        for outcome in
            [SUCCESS, FAILURE, REFUSAL, Outcome::Gone, Outcome::FinalizerRemoved, Outcome::Abandoned]
        {
            let mut bench = Bench::new();
            let run = bench.changed("a", Cause::Created).run();
            bench.finished(&run, FAILURE);
            let run = bench.pass(millis(2000)).run();
            assert!(run.retry.is_some());
            if deletion_is_seen {
                bench.deleted("a");
            }
            bench.changed_uid("a", 2, Cause::Created).idle();
            assert_eq!(bench.effects, [Effect::Forgotten(key("a")), Effect::Added(key("a"))]);
            let run = bench.finished(&run, outcome).run();
            assert_eq!((run.uid.clone(), run.retry), (uid_of("a", 2), None), "{outcome:?}");
            bench.finished(&run, FAILURE);
            assert_eq!(bench.retry(), Some((1, millis(2000))), "{outcome:?}");
        }
    }
}

#[test]
fn an_object_recreated_without_a_delete_starts_afresh() {
    let mut bench = Bench::new();
    let mut run = bench.changed("a", Cause::Created).run();
    for _ in 0..3 {
        bench.finished(&run, FAILURE);
        run = bench.pass(millis(3000)).run();
    }
    bench.finished(&run, FAILURE).idle();
    let run = bench.changed_uid("a", 2, Cause::Changed).run();
    assert_eq!((run.uid.clone(), run.retry), (uid_of("a", 2), None));
    bench.finished(&run, FAILURE);
    assert_eq!(bench.retry(), Some((1, millis(2000))));
    assert_eq!(bench.machine.snapshot().keys, 1);
}

#[test]
fn a_queued_primary_that_is_replaced_is_submitted_anew() {
    let mut bench = Bench::started(MachineConfig { max_concurrent: 1, ..MachineConfig::default() });
    let first = bench.changed("a", Cause::Created).run();
    bench.changed("b", Cause::Created);
    bench.changed_uid("b", 2, Cause::Changed);
    let b = || key("b");
    let expected = [
        Effect::Withdrawn(b()),
        Effect::Forgotten(b()),
        Effect::Added(b()),
        Effect::Submitted { key: b(), attempt: 0 },
    ];
    assert_eq!(bench.effects, expected);
    let run = bench.finished(&first, SUCCESS).run();
    assert_eq!((run.uid, run.causes), (uid_of("b", 2), Causes::from(Cause::Changed)));
}

#[test]
fn the_deletion_of_another_uid_is_ignored() {
    let mut bench = Bench::new();
    let run = bench.changed_uid("a", 2, Cause::Created).run();
    bench.deleted_uid("a", 1);
    assert_eq!(bench.effects, []);
    bench.finished(&run, SUCCESS);
    bench.deleted_uid("a", 1);
    assert_eq!(bench.machine.snapshot().keys, 1);
}

#[test]
fn after_the_finalizer_is_removed_events_of_the_same_object_are_ignored() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::MarkedForDeletion).run();
    bench.related("a");
    bench.finished(&run, Outcome::FinalizerRemoved).idle();
    assert_eq!(bench.machine.next_deadline(), bench.machine.snapshot().due.max_interval);
    bench.related("a").idle();
    bench.changed("a", Cause::MarkedForDeletion).idle();
    assert!(!bench.machine.next_reconciliation_imminent(&key("a")));
    bench.deleted("a").empty();
}

#[test]
fn after_the_finalizer_is_removed_a_new_object_runs() {
    for (uid, deleting) in [(2, false), (2, true), (1, false)] {
        let mut bench = Bench::new();
        let run = bench.changed("a", Cause::MarkedForDeletion).run();
        bench.finished(&run, FAILURE);
        let run = bench.pass(millis(2000)).run();
        bench.finished(&run, Outcome::FinalizerRemoved);
        let cause = if deleting { Cause::MarkedForDeletion } else { Cause::Changed };
        let run = bench.changed_uid("a", uid, cause).run();
        assert_eq!((run.uid, run.retry), (uid_of("a", uid), None));
    }
}

#[test]
fn a_run_that_found_its_primary_gone_is_no_failure() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Gone).idle();
    assert_eq!((bench.retry(), bench.machine.snapshot().exhausted), (None, 0));
}

#[test]
fn a_primary_that_was_found_gone_waits_for_its_own_end_change_or_successor() {
    let gone = || {
        let mut bench = Bench::new();
        let run = bench.changed("a", Cause::Created).run();
        bench.related("a");
        bench.finished(&run, Outcome::Gone).idle();
        bench.related("a").idle();
        assert!(!bench.machine.next_reconciliation_imminent(&key("a")));
        bench
    };
    gone().deleted("a").empty();
    assert_eq!(gone().changed_uid("a", 2, Cause::Created).run().uid, uid_of("a", 2));
    gone().changed("a", Cause::Changed).run();
    // The run was wrong, then: the object's end is still to come, and the finalizer has to be removed.
    let run = gone().changed("a", Cause::MarkedForDeletion).run();
    assert_eq!(run.causes, Causes::from(Cause::MarkedForDeletion));
}

#[test]
fn the_maximum_interval_ends_the_wait_of_a_primary_that_was_found_gone() {
    let interval = millis(30_000);
    let config = MachineConfig { max_reconciliation_interval: Some(interval), ..MachineConfig::default() };
    let mut bench = Bench::started(config);
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Gone).related("a").idle();
    let run = bench.pass(interval).run();
    assert_eq!(run.causes, Causes::from(Cause::MaxInterval));
    bench.finished(&run, SUCCESS).related("a").run();
}

#[test]
fn the_maximum_interval_ends_the_wait_for_the_end_of_what_was_let_go() {
    let interval = millis(30_000);
    let config = MachineConfig { max_reconciliation_interval: Some(interval), ..MachineConfig::default() };
    let mut bench = Bench::started(config);
    let run = bench.changed("a", Cause::MarkedForDeletion).run();
    bench.finished(&run, Outcome::FinalizerRemoved).changed("a", Cause::MarkedForDeletion).idle();
    let run = bench.pass(interval).run();
    assert_eq!(run.causes, Causes::from(Cause::MaxInterval));
}

/// Row F41 of the fault matrix: what is kept follows the number of primaries that exist, not of those that ever did.
#[test]
fn a_hundred_thousand_primaries_that_come_and_go_leave_nothing() {
    const ROUNDS: u32 = 100;
    let config = MachineConfig { max_concurrent: 1_000, ..linear(100, 1) };
    let mut bench = Bench::started(config);
    let names: Vec<String> = (0..1_000).map(|number| format!("p-{number}")).collect();
    let mut held = 0;
    for round in 1..=ROUNDS {
        for (number, name) in names.iter().enumerate() {
            let run = bench.changed_uid(name, round, Cause::Created).run();
            // Gone in the middle of a run, after a success, while a retry or a reschedule waits, and after all retries.
            let outcome = match number % 5 {
                0 => {
                    bench.deleted_uid(name, round);
                    FAILURE
                }
                1 => SUCCESS,
                2 => Outcome::Success { reschedule: Some(Reschedule::After(millis(100_000))) },
                3 => FAILURE,
                _ => REFUSAL,
            };
            bench.finished(&run, outcome).idle();
            bench.deleted_uid(name, round).idle();
        }
        bench.empty();
        let holds = bench.machine.records.capacity();
        assert!(round <= 1 || holds <= held, "room for {holds} after {round} rounds, and {held} after one");
        held = holds;
    }
    bench.pass(Duration::from_secs(100_000)).idle();
    bench.empty();
}
