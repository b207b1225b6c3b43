//! Bounded concurrency and the order of the queue.

use super::*;

fn one_place() -> MachineConfig {
    MachineConfig { max_concurrent: 1, ..MachineConfig::default() }
}

/// Ends one run after the other and answers the order in which the others follow.
fn follow(bench: &mut Bench, first: Run) -> Vec<String> {
    let mut order = Vec::new();
    let mut run = first;
    loop {
        let next = bench.finished(&run, SUCCESS).runs();
        let Some(next) = next.into_iter().next() else { return order };
        order.push(next.key.name().to_owned());
        run = next;
    }
}

#[test]
fn no_more_runs_are_in_flight_than_allowed() {
    for (allowed, expected) in [(0, 1), (1, 1), (3, 3)] {
        let mut bench = Bench::started(MachineConfig { max_concurrent: allowed, ..MachineConfig::default() });
        for n in 0..5 {
            bench.changed(&n.to_string(), Cause::Created);
        }
        let snapshot = bench.machine.snapshot();
        assert_eq!((snapshot.running, snapshot.queued), (expected, 5 - expected));
    }
}

#[test]
fn how_long_the_first_of_those_that_wait_has_waited_is_known() {
    let mut bench = Bench::started(one_place());
    let run = bench.changed("runs", Cause::Created).run();
    assert_eq!(bench.machine.oldest_waiting(), None, "a run doesn't wait");
    bench.pass(millis(300));
    bench.related("runs");
    bench.changed("first", Cause::Created);
    bench.pass(millis(500));
    bench.changed("second", Cause::Created);
    assert_eq!(bench.machine.oldest_waiting(), Some(Now::at(millis(300))));
    let run = bench.finished(&run, SUCCESS).run();
    assert_eq!(run.key.name(), "first");
    assert_eq!(bench.machine.oldest_waiting(), Some(Now::at(millis(800))));
}

#[test]
fn the_queue_is_first_in_first_out() {
    let mut bench = Bench::started(one_place());
    let first = bench.changed("first", Cause::Created).run();
    for name in ["d", "b", "c", "a"] {
        bench.changed(name, Cause::Created);
    }
    bench.related("d");
    bench.related("first");
    assert_eq!(follow(&mut bench, first), ["d", "b", "c", "a", "first"]);
}

/// An object that replaces another appears when it is seen, whether a run still has to see the end of the former or not. With
/// many of them no order of a hash map is the right one by chance.
#[test]
fn all_are_served_in_the_order_in_which_they_appeared() {
    let config = || MachineConfig { max_concurrent: 100, ..MachineConfig::default() };
    let expected: Vec<_> = (0..20).flat_map(|n| [format!("old{n}"), format!("new{n}")]).collect();
    for has_end in [true, false] {
        let mut bench = Bench::started(config());
        let mut old: Vec<_> =
            (0..20).map(|n| bench.changed(&format!("old{n}"), Cause::Created).run()).collect();
        if has_end {
            for run in &mut old {
                bench.finished(run, SUCCESS);
                *run = bench.ended(run.key.name()).run();
            }
        }
        let mut runs = Vec::new();
        for n in 0..20 {
            bench.changed_uid(&format!("old{n}"), 2, Cause::Created).idle();
            runs.push(bench.changed(&format!("new{n}"), Cause::Created).run());
        }
        runs.extend(old.iter().map(|run| bench.finished(run, SUCCESS).run()));
        for run in &runs {
            bench.finished(run, REFUSAL).idle();
        }
        let runs = bench.on(Input::Redefined { cause: SOURCE }).runs();
        assert_eq!(names(&runs), expected, "{has_end}");
    }

    let mut bench = Bench::stopped(config());
    for n in 0..20 {
        bench.changed(&format!("old{n}"), Cause::Created).idle();
    }
    for n in 0..20 {
        bench.changed_uid(&format!("old{n}"), 2, Cause::Created).idle();
        bench.changed(&format!("new{n}"), Cause::Created).idle();
    }
    assert_eq!(names(&bench.on(START).runs()), expected);
}

/// They share a secondary, which the run of each changes.
#[test]
fn a_second_run_for_a_secondary_is_made_when_all_first_runs_have_ended() {
    let mut bench = Bench::stopped(one_place());
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    for name in names {
        bench.changed(name, Cause::InitialList);
    }
    let mut run = bench.on(START).run();
    let mut order = vec![run.key.name().to_owned()];
    loop {
        if order.len() <= names.len() {
            for other in names.iter().filter(|name| **name != run.key.name()) {
                bench.related(other);
            }
        }
        let Some(next) = bench.finished(&run, SUCCESS).runs().pop() else { break };
        order.push(next.key.name().to_owned());
        run = next;
    }
    // The last one knows what it has done itself.
    assert_eq!(order, [&names[..], &names[..6]].concat());
}

#[test]
fn a_users_change_goes_before_the_initial_list() {
    let mut bench = Bench::stopped(one_place());
    for name in ["a", "b", "c"] {
        bench.changed(name, Cause::InitialList);
        bench.related(name);
    }
    let first = bench.on(START).run();
    assert_eq!(first.key, key("a"));
    bench.changed("new", Cause::Created);
    assert_eq!(follow(&mut bench, first), ["new", "b", "c"]);
}

#[test]
fn a_change_promotes_an_object_of_the_initial_list_and_a_secondary_does_not() {
    for cause in [Cause::Changed, Cause::MarkedForDeletion] {
        let mut bench = Bench::stopped(one_place());
        for name in ["a", "b", "c", "d"] {
            bench.changed(name, Cause::InitialList);
        }
        let first = bench.on(START).run();
        bench.related("c");
        bench.changed("d", cause);
        assert_eq!(follow(&mut bench, first), ["d", "b", "c"]);
    }
}

#[test]
fn the_initial_list_gets_every_fifth_place() {
    let mut bench = Bench::stopped(one_place());
    for n in 0..3 {
        bench.changed(&format!("old{n}"), Cause::InitialList);
    }
    let first = bench.on(START).run();
    for n in 0..10 {
        bench.changed(&format!("new{n}"), Cause::Created);
    }
    let expected =
        ["new0", "new1", "new2", "new3", "old1", "new4", "new5", "new6", "new7", "old2", "new8", "new9"];
    assert_eq!(follow(&mut bench, first), expected);
}
