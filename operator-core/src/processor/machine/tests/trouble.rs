//! Failures of the server, and failing runs that cause events themselves.

use super::*;

#[test]
fn failures_of_the_server_and_of_others_use_up_no_attempt_and_never_end() {
    let retry = Arc::new(GenericRetry::josdk());
    let mut bench = Bench::started(MachineConfig { retry, ..MachineConfig::default() });
    let mut run = bench.changed("a", Cause::Created).run();
    for (number, delay) in [2000, 2000, 3000, 4500, 6750, 10_125, 15_187, 22_780].into_iter().enumerate() {
        bench.finished(&run, if number % 2 == 0 { TROUBLE } else { OUTSIDE }).idle();
        assert_eq!((bench.retry(), bench.wait()), (None, Some(millis(delay))));
        bench.pass(millis(delay - 1)).idle();
        run = bench.pass(millis(1)).run();
        assert_eq!((run.retry, run.causes), (None, Causes::from(Cause::Retry)));
    }
    // The attempts are all there, and after a success the delays begin anew.
    bench.finished(&run, FAILURE).idle();
    assert_eq!(bench.retry(), Some((1, millis(2000))));
    let run = bench.pass(millis(2000)).run();
    bench.finished(&run, SUCCESS);
    let run = bench.related("a").run();
    bench.finished(&run, TROUBLE).idle();
    assert_eq!(bench.wait(), Some(millis(2000)));
}

#[test]
fn delays_after_failures_of_the_server_are_five_minutes_at_most_and_spread_by_a_tenth() {
    let retry = GenericRetry::exponential(Duration::from_secs(60), 10.0, 3).unwrap();
    let config = |jitter| MachineConfig { retry: Arc::new(retry), jitter, ..MachineConfig::default() };
    let waits = |jitter: Option<Jitter>| -> Vec<u64> {
        let mut bench = Bench::started(config(jitter));
        let mut run = bench.changed("a", Cause::Created).run();
        let mut wait = || {
            let wait = bench.finished(&run, TROUBLE).wait().expect("tried again");
            run = bench.pass(wait).run();
            wait.as_millis() as u64
        };
        (0..5).map(|_| wait()).collect()
    };
    assert_eq!(waits(None), [60_000, 60_000, 300_000, 300_000, 300_000]);
    let spread = waits(Some(Jitter::seeded(7)));
    for (spread, whole) in spread.iter().zip([60_000, 60_000, 300_000, 300_000, 300_000]) {
        assert!((whole * 9 / 10..=whole).contains(spread), "{spread} of {whole}");
    }
    assert_ne!(spread[2], spread[3], "by chance");
}

#[test]
fn after_the_last_retry_the_last_reschedule_is_waited_for_where_it_is_the_shorter() {
    let hour = Duration::from_secs(3600);
    for (reschedule, outcome, waits, cause) in [
        (Some(hour), FAILURE, hour, Cause::Reschedule),
        (Some(hour), REFUSAL, hour, Cause::Reschedule),
        (Some(11 * hour), FAILURE, 10 * hour, Cause::MaxInterval),
        (None, FAILURE, 10 * hour, Cause::MaxInterval),
    ] {
        let retry = Arc::new(GenericRetry::no_retry());
        let mut bench = Bench::started(MachineConfig { retry, ..MachineConfig::default() });
        let run = bench.changed("a", Cause::Created).run();
        bench.finished(&run, Outcome::Success { reschedule: reschedule.map(Reschedule::After) }).idle();
        let run = bench.related("a").run();
        bench.finished(&run, outcome).idle();
        bench.pass(waits - millis(1)).idle();
        assert_eq!(bench.pass(millis(1)).run().causes, Causes::from(cause));
    }
}

/// A run that fails and causes an event each time, for example by a write of its own that isn't distinguished from others'.
fn runs_within_ten_seconds(config: MachineConfig, outcome: Outcome) -> usize {
    let mut bench = Bench::started(config);
    let mut run = bench.changed("a", Cause::Created).run();
    let end = bench.now + Duration::from_secs(10);
    let mut runs = 1;
    while bench.now < end {
        bench.related("a").idle();
        bench.finished(&run, outcome);
        let mut next = bench.runs();
        while next.is_empty() && bench.now < end {
            next = bench.pass(millis(10)).runs();
        }
        let Some(first) = next.pop() else { break };
        run = first;
        runs += 1;
        assert!(runs < 1_000, "without a brake");
    }
    runs
}

#[test]
fn failing_runs_that_cause_an_event_have_a_brake() {
    // At once after every second failure: at 0, 0, 2, 2, 4, 4, 7 and 7 seconds.
    assert_eq!(runs_within_ten_seconds(MachineConfig::default(), FAILURE), 8);
    assert_eq!(runs_within_ten_seconds(MachineConfig::default(), TROUBLE), 8);
    // Where no attempt is left, and where none can help: twice every two seconds, and at the end of the last one.
    let retry = Arc::new(GenericRetry::no_retry());
    let none = MachineConfig { retry, ..MachineConfig::default() };
    assert_eq!(runs_within_ten_seconds(none, FAILURE), 11);
    assert_eq!(runs_within_ten_seconds(MachineConfig::default(), REFUSAL), 11);
}
