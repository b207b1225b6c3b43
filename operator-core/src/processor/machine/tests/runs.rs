//! Events, runs, reschedules and stops.

use super::*;

#[test]
fn a_change_of_a_primary_starts_a_run_with_its_cause() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    assert_eq!((run.uid, run.retry), (uid_of("a", 1), None));
    assert_eq!(run.causes, Causes::from(Cause::Created));
    assert_eq!(bench.effects[0], Effect::Added(key("a")));
    assert_eq!(bench.effects[1], Effect::Submitted { key: key("a"), attempt: 0 });
}

#[test]
fn an_event_for_an_unknown_primary_is_dropped() {
    let mut bench = Bench::new();
    bench.related("a").idle().empty();
    bench.deleted("a").idle().empty();
}

#[test]
fn any_number_of_events_during_a_run_cause_exactly_one_more() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    for _ in 0..10 {
        bench.related("a").idle();
        bench.changed("a", Cause::Changed).idle();
    }
    let second = bench.finished(&run, SUCCESS).run();
    assert!(second.causes.contains(SOURCE) && second.causes.contains(Cause::Changed));
    assert!(!second.causes.contains(Cause::Created));
    bench.finished(&second, SUCCESS).idle();
    assert_eq!(bench.machine.snapshot().pending, 0);
}

#[test]
fn an_event_that_joins_what_is_pending_has_no_effect_at_all() {
    let mut bench = Bench::started(MachineConfig { max_concurrent: 1, ..MachineConfig::default() });
    bench.changed("running", Cause::Created);
    bench.changed("queued", Cause::Created).idle();
    for name in ["running", "queued"] {
        assert_eq!(bench.related(name).effects, []);
    }
}

#[test]
fn the_end_of_a_run_that_is_not_in_flight_is_ignored() {
    let mut bench = Bench::new();
    let first = bench.changed("a", Cause::Created).run();
    bench.related("a");
    let second = bench.finished(&first, SUCCESS).run();
    bench.related("a");
    bench.finished(&first, SUCCESS).idle();
    assert_eq!(bench.machine.running(), 1);
    bench.finished(&second, SUCCESS).run();
    bench.on(Input::Finished { run: second.id, key: key("unknown"), outcome: SUCCESS }).idle();
}

#[test]
fn a_requested_reschedule_runs_when_it_is_due() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(millis(300))) }).idle();
    assert_eq!(bench.machine.snapshot().due.next_work(), Some(Now::at(millis(300))));
    bench.pass(millis(299)).idle();
    let run = bench.pass(millis(1)).run();
    assert_eq!(run.causes, Causes::from(Cause::Reschedule));
}

#[test]
fn a_reschedule_without_delay_runs_with_the_next_tick() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(Duration::ZERO)) });
    assert_eq!(bench.machine.next_deadline(), Some(bench.now));
    bench.pass(Duration::ZERO).run();
}

#[test]
fn a_pending_event_supersedes_the_requested_reschedule() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.related("a");
    let run =
        bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(millis(300))) }).run();
    bench.finished(&run, SUCCESS);
    bench.pass(millis(1000)).idle();
    assert_eq!(bench.machine.snapshot().due.reschedule, None);
}

#[test]
fn a_run_supersedes_the_timer_that_was_set_before_it() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(millis(300))) });
    let run = bench.related("a").run();
    assert_eq!(bench.machine.next_deadline(), None);
    bench.pass(millis(300)).idle();
    bench.finished(&run, SUCCESS).idle();
}

#[test]
fn without_anything_else_the_maximum_interval_leads_to_the_next_run() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.pass(Duration::from_secs(60)).finished(&run, SUCCESS).idle();
    assert_eq!(bench.machine.snapshot().due.next_work(), None, "it is no work that is waited for");
    bench.pass(Duration::from_secs(10 * 3600 - 1)).idle();
    assert_eq!(bench.pass(Duration::from_secs(1)).run().causes, Causes::from(Cause::MaxInterval));

    let mut bench =
        Bench::started(MachineConfig { max_reconciliation_interval: None, ..MachineConfig::default() });
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    assert_eq!(bench.machine.next_deadline(), None);
}

#[test]
fn a_reschedule_at_the_end_of_all_time_is_never_due_and_does_not_panic() {
    let mut bench = Bench::new();
    bench.pass(millis(7));
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(Duration::MAX)) });
    assert_eq!(bench.machine.next_deadline(), Some(Now::at(Duration::MAX)));
    bench.pass(Duration::from_secs(60 * 60 * 24 * 365 * 1000)).idle();
}

#[test]
fn a_tick_at_the_end_of_all_time_ends() {
    let mut bench = Bench::started(MachineConfig {
        max_reconciliation_interval: Some(Duration::MAX),
        ..limits::one_run_per(Duration::MAX)
    });
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, SUCCESS);
    bench.machine.tick(Now::at(Duration::MAX), &mut bench.effects);
    assert_eq!(bench.machine.snapshot().due.rate_limit, Some(Now::at(Duration::MAX)));
}

#[test]
fn nothing_runs_before_the_start_and_then_in_the_order_of_arrival() {
    let mut bench = Bench::stopped(MachineConfig { max_concurrent: 100, ..MachineConfig::default() });
    let order: Vec<String> = (0..100).map(|n| format!("k{}", n * 37 % 100)).collect();
    for name in &order {
        bench.changed(name, Cause::InitialList).idle();
    }
    assert_eq!(bench.machine.snapshot().pending, 100);
    let runs = bench.on(START).runs();
    assert_eq!(names(&runs), order);
    bench.on(START).idle();
}

#[test]
fn a_primary_that_comes_and_goes_before_the_start_leaves_nothing() {
    let mut bench = Bench::stopped(MachineConfig::default());
    bench.changed("a", Cause::Created).idle();
    bench.deleted("a");
    assert_eq!(bench.effects, [Effect::Forgotten(key("a"))]);
    bench.on(START).idle().empty();
}

#[test]
fn after_a_stop_nothing_starts_whatever_comes() {
    for outcome in [SUCCESS, FAILURE, TROUBLE, REFUSAL, Outcome::Gone, Outcome::Abandoned] {
        let mut bench = Bench::started(MachineConfig { max_concurrent: 1, ..MachineConfig::default() });
        let run = bench.changed("waits", Cause::Created).run();
        bench.finished(&run, Outcome::Success { reschedule: Some(Reschedule::After(millis(10))) });
        let run = bench.changed("a", Cause::Created).run();
        bench.changed("queued", Cause::Created).idle();
        bench.related("a").on(Input::Stop).idle();
        bench.on(START).idle();
        let namespaces = Some(["test".to_owned()].into());
        bench.on(Input::Rescoped { opening: 1, before: None, now: namespaces }).idle();
        bench.on(Input::Start { opening: 1, namespace: None }).idle();
        bench.on(Input::Start { opening: 1, namespace: Some("test".into()) }).idle();
        bench.finished(&run, outcome).idle();
        assert_eq!(bench.machine.running(), 0);
        bench.related("a").changed("new", Cause::Created).idle();
        bench.pass(Duration::from_secs(100_000)).idle();
        bench.on(START).idle();
    }
}

#[test]
fn a_run_that_a_stop_has_cut_off_is_no_failure() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.on(Input::Stop).finished(&run, Outcome::Abandoned);
    assert_eq!(bench.effects, []);
}

#[test]
fn a_run_abandoned_without_a_stop_waits_for_the_retrys_delay() {
    let mut bench = Bench::new();
    let run = bench.changed("a", Cause::Created).run();
    bench.finished(&run, Outcome::Abandoned).idle();
    assert_eq!(bench.retry(), Some((1, millis(2000))));
}

#[test]
fn the_next_run_is_imminent_when_an_event_or_a_retry_waits() {
    let mut bench = Bench::new();
    let imminent = |bench: &Bench| bench.machine.next_reconciliation_imminent(&key("a"));
    assert!(!imminent(&bench), "unknown");
    let run = bench.changed("a", Cause::Created).run();
    assert!(!imminent(&bench), "running, nothing happened since");
    bench.related("a");
    assert!(imminent(&bench), "running, something happened since");
    let run = bench.finished(&run, SUCCESS).run();
    bench.finished(&run, FAILURE);
    assert!(imminent(&bench), "waiting for the retry");
    let run = bench.pass(millis(2000)).run();
    assert!(!imminent(&bench), "the retry runs");
    bench.finished(&run, SUCCESS);
    assert!(!imminent(&bench), "waiting for the maximum interval");
}

#[test]
fn a_snapshot_counts_what_there_is() {
    let mut bench = Bench::started(MachineConfig { max_concurrent: 2, ..MachineConfig::default() });
    let a = bench.changed("a", Cause::Created).run();
    let b = bench.changed("b", Cause::Created).run();
    bench.changed("c", Cause::Created);
    bench.related("a");
    let snapshot = bench.machine.snapshot();
    let expected =
        Snapshot { keys: 3, queued: 1, running: 2, pending: 2, is_running: true, inputs: 5, ..snapshot };
    assert_eq!(snapshot, expected);
    let c = bench.finished(&b, FAILURE).run();
    bench.finished(&c, Outcome::Success { reschedule: Some(Reschedule::After(millis(10))) });
    let a = bench.finished(&a, SUCCESS).run();
    bench.finished(&a, SUCCESS);
    let at = |delay| Some(Now::START + delay);
    let ten_hours = Duration::from_secs(36_000);
    let due = super::super::snapshot::Due {
        retry: at(millis(2000)),
        reschedule: at(millis(10)),
        max_interval: at(ten_hours),
        rate_limit: None,
    };
    assert_eq!(bench.machine.snapshot().due, due);
}
