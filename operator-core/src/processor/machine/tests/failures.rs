//! Failures and retries.

use super::*;

fn info(attempt: u32, last_attempt: bool) -> Option<crate::processor::RetryInfo> {
    Some(crate::processor::RetryInfo { attempt, last_attempt })
}

#[test]
fn failing_runs_are_retried_after_the_specified_delays_until_none_is_left() {
    let retry = Arc::new(GenericRetry::josdk());
    let mut bench = Bench::started(MachineConfig { retry, ..MachineConfig::default() });
    let mut run = bench.changed("a", Cause::Created).run();
    for (attempt, delay) in (1..).zip([2000, 2000, 3000, 4500, 6750]) {
        bench.finished(&run, FAILURE).idle();
        assert_eq!(bench.retry(), Some((attempt, millis(delay))));
        bench.pass(millis(delay - 1)).idle();
        run = bench.pass(millis(1)).run();
        assert_eq!((run.retry, run.causes), (info(attempt, attempt == 5), Causes::from(Cause::Retry)));
    }
    bench.finished(&run, FAILURE).idle();
    assert_eq!(bench.effects, [Effect::RetriesExhausted(key("a"))]);
    assert_eq!(bench.machine.snapshot().exhausted, 1);
    bench.pass(Duration::from_secs(35_999)).idle();
    assert_eq!(bench.pass(Duration::from_secs(1)).run().causes, Causes::from(Cause::MaxInterval));
}

/// Lengthened by chance, but never above five minutes.
#[test]
fn by_default_a_failing_run_is_retried_forever_after_less_than_five_minutes() {
    let jitter = Some(Jitter::seeded(7));
    let mut bench = Bench::started(MachineConfig { jitter, ..MachineConfig::default() });
    let mut run = bench.changed("a", Cause::Created).run();
    let mut waits = Vec::new();
    for attempt in 1..500 {
        bench.finished(&run, FAILURE).idle();
        let (of, wait) = bench.retry().expect("a retry");
        assert_eq!(of, attempt);
        waits.push(wait);
        run = bench.pass(wait).run();
        assert_eq!(run.retry, info(attempt, false));
    }
    let [shortest, longest] = [Duration::from_secs(270), Duration::from_secs(297)];
    assert!(waits[14..].iter().all(|wait| (shortest..=longest).contains(wait)), "{waits:?}");
    assert!(waits[14..].iter().any(|wait| *wait != waits[14]), "by chance");
}

#[test]
fn a_changed_definition_triggers_those_that_failed_and_no_others() {
    let mut bench = Bench::new();
    for (name, outcome) in [("a", REFUSAL), ("b", SUCCESS), ("c", OUTSIDE), ("d", FAILURE)] {
        let run = bench.changed(name, Cause::Created).run();
        bench.finished(&run, outcome).idle();
    }
    let runs = bench.on(Input::Redefined { cause: SOURCE }).runs();
    assert_eq!(names(&runs), ["a", "c", "d"]);
    assert!(runs.iter().all(|run| run.causes == Causes::from(SOURCE)));
}

#[test]
fn after_the_last_retry_events_still_run_and_only_a_success_starts_afresh() {
    let mut bench = Bench::started(linear(100, 1));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, FAILURE);
    let run = bench.pass(millis(100)).run();
    bench.finished(&run, FAILURE).idle();
    for _ in 0..3 {
        let run = bench.related("a").run();
        assert_eq!(run.retry, info(1, true));
        bench.finished(&run, FAILURE).idle();
        assert_eq!(bench.retry(), None);
        assert_eq!(bench.machine.snapshot().exhausted, 1);
    }
    let run = bench.related("a").run();
    bench.finished(&run, SUCCESS);
    assert_eq!(bench.machine.snapshot().exhausted, 0);
    let run = bench.related("a").run();
    assert_eq!(run.retry, None);
    bench.finished(&run, FAILURE);
    assert_eq!(bench.retry(), Some((1, millis(100))));
}

/// A failure after which the server wants to be left alone for so long.
fn busy(bench: &Bench, millis: u64) -> Outcome {
    let not_before = Some(bench.now + Duration::from_millis(millis));
    Outcome::Failed { kind: FailureKind::Retryable, not_before, again: None }
}

#[test]
fn a_server_that_asks_for_patience_gets_it_whatever_the_delay_and_whatever_happens() {
    for (asked, due) in [(30_000, 30_000), (1_000, 2_000)] {
        let mut bench = Bench::new();
        let run = bench.changed("a", Cause::Created).run();
        let outcome = busy(&bench, asked);
        bench.finished(&run, outcome).idle();
        assert_eq!(bench.retry(), Some((1, millis(due))));
        bench.pass(millis(due - 1)).idle();
        assert_eq!(bench.pass(millis(1)).run().causes, Causes::from(Cause::Retry));
    }
    // Neither an event in the meantime nor one during the failed run leads to an earlier run; other primaries continue.
    for during in [true, false] {
        let mut bench = Bench::new();
        let run = bench.changed("a", Cause::Created).run();
        if during {
            bench.related("a").idle();
        }
        let outcome = busy(&bench, 30_000);
        bench.finished(&run, outcome).idle();
        bench.pass(millis(10_000)).idle();
        bench.related("a").idle();
        assert_eq!(names(&bench.changed("b", Cause::Created).runs()), ["b"]);
        bench.pass(millis(19_999)).idle();
        assert_eq!(bench.pass(millis(1)).run().causes, Causes::from(SOURCE));
    }
}

#[test]
fn the_patience_that_a_server_has_asked_for_is_over_with_the_object_and_with_time() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    let outcome = busy(&bench, 30_000);
    bench.finished(&run, outcome).idle();
    let run = bench.changed_uid("a", 2, Cause::Changed).run();
    let outcome = busy(&bench, 1_000);
    bench.finished(&run, outcome).idle();
    let run = bench.pass(millis(2_000)).run();
    bench.finished(&run, SUCCESS).idle();
    bench.related("a").run();
}

#[test]
fn no_retry_means_exhausted_at_once() {
    let retry = Arc::new(GenericRetry::no_retry());
    let mut bench = Bench::started(MachineConfig { retry, ..MachineConfig::default() });
    let run = bench.changed("a", Cause::Created).run();
    bench
        .finished(&run, Outcome::Failed { kind: FailureKind::Retryable, not_before: None, again: None })
        .idle();
    assert_eq!(bench.effects, [Effect::RetriesExhausted(key("a"))]);
    assert_eq!(bench.machine.snapshot().due.max_interval, Some(Now::at(Duration::from_secs(36_000))));
}

#[test]
fn an_event_during_a_failing_run_is_served_at_once_and_uses_up_no_attempt() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.related("a");
    let run = bench.finished(&run, FAILURE).run();
    assert_eq!((bench.retry(), run.retry), (None, info(0, false)));
    assert_eq!(run.causes, Causes::from(SOURCE));
    bench.finished(&run, FAILURE).idle();
    assert_eq!(bench.retry(), Some((1, millis(2000))), "one event, one immediate run, then the delay");
    bench.pass(millis(1999)).idle();
    bench.pass(millis(1)).run();
}

#[test]
fn an_event_during_the_delay_runs_at_once() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, FAILURE);
    bench.pass(millis(500));
    let run = bench.related("a").run();
    assert_eq!((run.retry, run.causes), (info(1, false), Causes::from(SOURCE)));
    bench.finished(&run, SUCCESS);
    bench.pass(millis(60_000)).idle();
}

#[test]
fn a_failure_inside_a_long_delay_waits_for_the_rest_and_uses_up_no_attempt() {
    let mut bench = Bench::started(linear(60_000, 3));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, FAILURE);
    for passed in 1..=5 {
        bench.pass(millis(1000));
        let run = bench.related("a").run();
        assert_eq!(run.retry, info(1, false));
        bench.finished(&run, FAILURE).idle();
        assert_eq!(bench.retry(), Some((1, millis(60_000 - passed * 1000))));
    }
    bench.pass(millis(54_999)).idle();
    assert_eq!(bench.pass(millis(1)).run().retry, info(1, false));
}

#[test]
fn a_failure_near_the_end_of_a_delay_takes_the_next_attempt() {
    for (passed, expected) in [(54_999, (1, 5001)), (55_000, (2, 60_000)), (59_000, (2, 60_000))] {
        let mut bench = Bench::started(linear(60_000, 3));
        let run = bench.changed("a", Cause::Created).run();
        bench.finished(&run, FAILURE);
        bench.pass(millis(passed));
        let run = bench.related("a").run();
        bench.finished(&run, FAILURE);
        assert_eq!(bench.retry(), Some((expected.0, millis(expected.1))), "after {passed} ms");
    }
}

#[test]
fn a_delay_that_ends_during_a_run_is_no_event() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, FAILURE);
    bench.pass(millis(1000));
    let run = bench.related("a").run();
    bench.pass(millis(5000)).idle();
    bench.finished(&run, FAILURE).idle();
    assert_eq!(bench.retry(), Some((2, millis(2000))));
}

#[test]
fn a_failure_that_a_retry_cannot_help_waits_for_an_event_or_the_maximum_interval() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, REFUSAL).idle();
    assert_eq!((bench.retry(), bench.machine.snapshot().exhausted), (None, 1));
    bench.pass(Duration::from_secs(35_999)).idle();
    assert_eq!(bench.pass(Duration::from_secs(1)).run().causes, Causes::from(Cause::MaxInterval));

    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.related("a");
    let run = bench.finished(&run, REFUSAL).run();
    assert_eq!(run.causes, Causes::from(SOURCE));
    bench.finished(&run, SUCCESS);
    assert_eq!(bench.machine.snapshot().exhausted, 0);
}

#[test]
fn a_failure_that_a_retry_cannot_help_ends_a_row_of_retries_but_does_not_reset_it() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, FAILURE);
    let run = bench.pass(millis(2000)).run();
    bench.finished(&run, REFUSAL);
    bench.pass(millis(60_000)).idle();
    let run = bench.related("a").run();
    assert_eq!(run.retry, info(1, false));
    bench.finished(&run, FAILURE);
    assert_eq!(bench.retry(), Some((2, millis(2000))));
}

#[test]
fn after_the_last_failure_the_run_that_was_asked_for_follows_and_not_again() {
    for kind in [FailureKind::Permanent, FailureKind::Retryable] {
        let mut bench = Bench::started(linear(100, 0));
        let run = bench.changed("a", Cause::Created).run();
        let failed = |again| Outcome::Failed { kind, not_before: None, again };
        bench.finished(&run, failed(Some(millis(5_000)))).idle();
        bench.pass(millis(4_999)).idle();
        let run = bench.pass(millis(1)).run();
        assert_eq!(run.causes, Causes::from(Cause::Reschedule));
        bench.finished(&run, failed(None)).idle();
        bench.pass(millis(10_000)).idle();
    }
}
