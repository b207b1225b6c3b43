//! Regular runs are spread: the maximum interval ends a little earlier, a reschedule a little later.

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn config(spread: f64) -> MachineConfig {
    MachineConfig {
        spread,
        jitter: Some(Jitter::seeded(7)),
        max_reconciliation_interval: Some(HOUR),
        ..MachineConfig::default()
    }
}

/// The delays of this many runs in a row, whose ends are `outcome`.
fn delays(config: MachineConfig, outcome: Outcome, runs: usize) -> Vec<Duration> {
    let mut bench = Bench::started(config);
    let mut run = bench.changed("a", Cause::Created).run();
    let mut delay = || {
        bench.finished(&run, outcome).idle();
        let delay = bench.machine.next_deadline().expect("a timer") - bench.now;
        run = bench.pass(delay).run();
        delay
    };
    (0..runs).map(|_| delay()).collect()
}

#[test]
fn the_maximum_interval_ends_at_most_a_tenth_earlier_and_never_later() {
    let delays = delays(config(0.1), SUCCESS, 200);
    assert!(delays.iter().all(|delay| (HOUR.mul_f64(0.9)..=HOUR).contains(delay)), "{delays:?}");
    let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!(
        *least < HOUR.mul_f64(0.91) && *most > HOUR.mul_f64(0.99),
        "all of the tenth: {least:?}, {most:?}"
    );
}

#[test]
fn a_reschedule_ends_at_most_a_tenth_later_and_never_earlier() {
    let asked = Duration::from_secs(60);
    let delays = delays(config(0.1), Outcome::Success { reschedule: Some(Reschedule::After(asked)) }, 200);
    assert!(delays.iter().all(|delay| (asked..=asked.mul_f64(1.1)).contains(delay)), "{delays:?}");
    let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!(*least < asked.mul_f64(1.02) && *most > asked.mul_f64(1.08), "all of it: {least:?}, {most:?}");
}

#[test]
fn a_reschedule_at_once_is_at_once() {
    let mut bench = Bench::started(config(0.5));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(Duration::ZERO)) });
    assert_eq!(bench.machine.next_deadline(), Some(bench.now));
}

#[test]
fn after_the_last_retry_both_are_spread_as_well() {
    let asked = Duration::from_secs(60);
    for (reschedule, range) in [(None, HOUR.mul_f64(0.9)..HOUR), (Some(asked), asked..asked.mul_f64(1.1))] {
        let mut bench = Bench::started(config(0.1));
        let run = bench.changed("a", Cause::Created).run();
        bench.finished(&run, Outcome::Success { reschedule: reschedule.map(Reschedule::After) });
        let run = bench.related("a").run();
        bench.finished(&run, REFUSAL).idle();
        let delay = bench.machine.next_deadline().expect("a timer") - bench.now;
        assert!(range.contains(&delay) && delay != asked, "{delay:?}");
    }
}

#[test]
fn after_the_last_retry_a_reschedule_that_is_as_long_as_the_maximum_interval_does_not_exceed_it() {
    let mut bench = Bench::started(config(0.1));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(HOUR)) });
    let run = bench.related("a").run();
    bench.finished(&run, REFUSAL).idle();
    assert_eq!(bench.pass(HOUR).run().causes, Causes::from(Cause::MaxInterval));
}

#[test]
fn others_that_began_together_end_apart_and_the_same_random_numbers_give_the_same_delays() {
    let ends = || {
        let mut bench = Bench::started(config(0.1));
        let names = ["a", "b", "c", "d"];
        let runs = names.map(|name| bench.changed(name, Cause::Created).run());
        for run in &runs {
            bench.finished(run, SUCCESS);
        }
        let mut ends = Vec::new();
        while let Some(deadline) = bench.machine.next_deadline() {
            bench.pass(deadline - bench.now);
            ends.push(deadline);
        }
        ends
    };
    let first = ends();
    assert_eq!(first.len(), 4, "no two at one moment");
    assert_eq!(first, ends());
}

#[test]
fn without_a_spread_delays_are_exact_and_take_no_random_number() {
    let config = config(0.0);
    let jitter = config.jitter.clone().unwrap();
    assert_eq!(delays(config, SUCCESS, 3), [HOUR; 3]);
    let asked = Duration::from_secs(60);
    let exact = delays(self::config(0.0), Outcome::Success { reschedule: Some(Reschedule::After(asked)) }, 3);
    assert_eq!(exact, [asked; 3]);
    assert_eq!(jitter.uuid(), Jitter::seeded(7).uuid());
}

/// What user code has requested is its own business; what the library has requested is not.
#[test]
fn whatever_the_library_requests_a_primary_runs_within_the_maximum_interval() {
    for seconds in [0, 1, 59, 3_300, 3_590, 3_599, 3_600, 3_601, 36_000, u64::MAX] {
        let again = Duration::from_secs(seconds);
        let within = Outcome::Success { reschedule: Some(Reschedule::Within(again)) };
        for delay in delays(config(0.1), within, 50) {
            assert!(delay <= HOUR && delay >= again.min(HOUR.mul_f64(0.9)), "{again:?}: {delay:?}");
        }
        let mut bench = Bench::started(config(0.1));
        let run = bench.changed("a", Cause::Created).run();
        bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(again)) });
        assert!(bench.machine.next_deadline().is_none_or(|deadline| deadline - bench.now >= again));
    }
}

#[test]
fn of_two_requests_the_earlier_counts_and_the_interval_applies_only_if_the_user_has_requested_nothing() {
    use Reschedule::{After, Within};
    let [short, long] = [millis(1), HOUR];
    assert_eq!(Reschedule::earlier(None, None), None);
    assert_eq!(Reschedule::earlier(None, Some(long)), Some(Within(long)));
    for of in [After, Within] {
        assert_eq!(Reschedule::earlier(Some(of(long)), None), Some(of(long)));
        assert_eq!(Reschedule::earlier(Some(of(long)), Some(short)), Some(of(short)));
        assert_eq!(Reschedule::earlier(Some(of(short)), Some(long)), Some(of(short)));
    }
}
