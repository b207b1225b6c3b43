//! The rate limit.

use super::*;
use crate::processor::LinearRateLimiter;

pub(super) fn one_run_per(period: Duration) -> MachineConfig {
    let limiter = Arc::new(LinearRateLimiter::new(1, period).unwrap());
    MachineConfig { rate_limiter: Some(limiter), ..MachineConfig::default() }
}

#[test]
fn an_event_beyond_the_limit_waits_for_the_rest_of_the_period() {
    let mut bench = Bench::started(one_run_per(millis(1000)));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    bench.pass(millis(400));
    assert_eq!(bench.related("a").effects, []);
    assert_eq!(bench.machine.snapshot().due.rate_limit, Some(Now::at(millis(1000))));
    bench.changed("a", Cause::Changed).idle();
    // At the very end of the period the limiter still says no, with nothing left: the least wait is 50 ms.
    bench.pass(millis(649)).idle();
    let run = bench.pass(millis(1)).run();
    assert!(run.causes.contains(SOURCE) && run.causes.contains(Cause::Changed));
    assert!(!run.causes.contains(Cause::Reschedule));
}

#[test]
fn each_primary_has_a_limit_of_its_own() {
    let mut bench = Bench::started(one_run_per(millis(1000)));
    bench.changed("a", Cause::Created).run();
    bench.changed("b", Cause::Created).run();
}

#[test]
fn an_event_during_a_run_waits_for_the_limit_when_the_run_ends() {
    for outcome in [SUCCESS, FAILURE, REFUSAL] {
        let mut bench = Bench::started(one_run_per(millis(1000)));
        let run = bench.changed("a", Cause::Created).run();
        bench.related("a");
        bench.finished(&run, outcome).idle();
        assert_eq!(bench.pass(millis(1050)).run().causes, Causes::from(SOURCE), "{outcome:?}");
    }
}

#[test]
fn a_retry_counts_against_the_limit() {
    let mut bench = Bench::started(one_run_per(millis(10_000)));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, FAILURE);
    bench.pass(millis(10_049)).idle();
    let run = bench.pass(millis(1)).run();
    assert_eq!(run.retry.map(|retry| retry.attempt), Some(1));
}

#[test]
fn a_recreated_object_has_a_fresh_limit() {
    let mut bench = Bench::started(one_run_per(millis(10_000)));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    bench.related("a").idle();
    bench.changed_uid("a", 2, Cause::Changed).run();
    assert_eq!(bench.machine.next_deadline(), None);
}
