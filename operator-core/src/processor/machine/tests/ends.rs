//! Ends that a run has to see.

use super::*;

/// Whether the run learns that its primary is gone.
fn of_end(run: &Run) -> bool {
    run.departed.is_some()
}

#[test]
fn a_run_sees_the_end_and_then_nothing_is_kept() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    assert!(!of_end(&run));
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(millis(1000))) });
    let run = bench.ended("a").run();
    assert!(of_end(&run));
    assert_eq!(run.causes, Causes::from(Cause::Deleted));
    // The requests of such a run are ignored: there is nothing to run for.
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(millis(1000))) }).idle();
    assert_eq!(bench.effects, [Effect::Forgotten(key("a"))]);
    bench.empty();
}

#[test]
fn an_end_during_a_run_keeps_the_mark_and_is_seen_by_the_next_one() {
    for outcome in [SUCCESS, FAILURE, REFUSAL, TROUBLE, Outcome::Gone, Outcome::FinalizerRemoved] {
        let mut bench = Bench::new();
        let before = bench.changed("a", Cause::Created).run();
        bench.ended("a").idle();
        bench.changed_uid("a", 2, Cause::Created).idle();
        assert_eq!(bench.machine.running(), 1);
        let run = bench.finished(&before, outcome).run();
        assert!(of_end(&run), "{outcome:?}");
        assert_eq!(run.uid, uid_of("a", 1));
        let run = bench.finished(&run, SUCCESS).run();
        assert_eq!((of_end(&run), run.uid.clone(), run.retry), (false, uid_of("a", 2), None));
        bench.finished(&run, SUCCESS);
        bench.deleted_uid("a", 2).empty();
    }
}

#[test]
fn a_failed_run_of_an_end_is_retried_as_any_other() {
    let mut bench = Bench::started(linear(1000, 2));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    let mut run = bench.ended("a").run();
    for attempt in 1..=2 {
        bench.finished(&run, FAILURE).idle();
        assert_eq!(bench.retry(), Some((attempt, millis(1000))));
        run = bench.pass(millis(1000)).run();
        assert!(of_end(&run));
    }
    bench.finished(&run, SUCCESS);
    bench.empty();
}

#[test]
fn without_an_attempt_left_it_waits_for_an_event_or_the_maximum_interval() {
    let interval = Some(millis(60_000));
    let config =
        |max_reconciliation_interval| MachineConfig { max_reconciliation_interval, ..linear(1000, 0) };
    let mut bench = Bench::started(config(interval));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    let run = bench.ended("a").run();
    bench.finished(&run, FAILURE).idle();
    let run = bench.related("a").run();
    assert!(of_end(&run), "what belongs to it may still change");
    bench.finished(&run, FAILURE).idle();
    let run = bench.pass(millis(60_000)).run();
    assert!(of_end(&run));
    bench.finished(&run, SUCCESS);
    bench.empty();

    // Nothing would ever come.
    for outcome in [FAILURE, REFUSAL] {
        let mut bench = Bench::started(config(None));
        let run = bench.changed("a", Cause::Created).run();
        bench.finished(&run, SUCCESS);
        let run = bench.ended("a").run();
        bench.finished(&run, outcome).idle();
        bench.empty();
    }
}

#[test]
fn a_successor_waits_for_the_end_of_the_former_one_and_starts_afresh() {
    let mut bench = Bench::started(linear(1000, 1));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    let run = bench.ended("a").run();
    bench.changed_uid("a", 2, Cause::Created).idle();
    bench.changed_uid("a", 2, Cause::Changed).idle();
    bench.finished(&run, FAILURE).idle();
    let run = bench.pass(millis(1000)).run();
    assert!(of_end(&run));
    // No attempt is left: it doesn't stand in the way for longer.
    let run = bench.finished(&run, FAILURE).run();
    assert_eq!((of_end(&run), run.uid.clone(), run.retry), (false, uid_of("a", 2), None));
    assert!(run.causes.contains(Cause::Created) && run.causes.contains(Cause::Changed));
}

#[test]
fn a_successor_that_nobody_has_seen_goes_unseen() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    let run = bench.ended("a").run();
    bench.changed_uid("a", 2, Cause::Created).idle();
    bench.ended_uid("a", 2).idle();
    bench.finished(&run, SUCCESS).idle();
    bench.empty();
}

/// After a gap a list shows only the last of several objects with one name.
#[test]
fn of_several_successors_the_last_one_has_its_turn() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    let run = bench.ended("a").run();
    bench.changed_uid("a", 2, Cause::Created).idle();
    bench.changed_uid("a", 3, Cause::Changed).idle();
    bench.deleted_uid("a", 2).idle();
    let run = bench.finished(&run, SUCCESS).run();
    assert_eq!((run.uid, run.causes), (uid_of("a", 3), Causes::from(Cause::Changed)));
}

#[test]
fn an_end_that_comes_while_nothing_is_started_is_nobodys() {
    let mut bench = Bench::stopped(MachineConfig::default());
    bench.changed("a", Cause::InitialList);
    bench.ended("a");
    bench.empty();

    // It may be another replica that works in the meantime.
    let mut bench = Bench::stopped(MachineConfig::default());
    bench.on(Input::Start { opening: 0, namespace: Some("other".into()) });
    bench.changed("a", Cause::InitialList);
    bench.ended("a");
    bench.empty();
}

#[test]
fn the_rate_limit_holds_for_ends_too() {
    let mut bench = Bench::started(limits::one_run_per(millis(1000)));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    bench.ended("a").idle();
    let run = bench.pass(millis(1050)).run();
    assert!(of_end(&run));
    bench.finished(&run, SUCCESS);
    bench.empty();
}

#[test]
fn an_end_that_is_told_twice_is_one() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    let run = bench.ended("a").run();
    bench.ended("a").idle();
    bench.finished(&run, SUCCESS).idle();
    bench.empty();
}
