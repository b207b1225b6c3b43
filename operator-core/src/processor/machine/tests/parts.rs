//! Namespaces that are started one after the other.

use super::*;

fn start_in(namespace: &str) -> Input {
    Input::Start { opening: 0, namespace: Some(namespace.into()) }
}

fn created(bench: &mut Bench, namespace: &str, name: &str) {
    let key = ObjectKey::namespaced(namespace, name);
    bench.on(Input::PrimaryChanged { key, uid: uid_of(name, 1), cause: Cause::InitialList, deleting: false });
}

#[test]
fn only_primaries_in_namespaces_that_were_started_run() {
    let mut bench = Bench::stopped(MachineConfig::default());
    created(&mut bench, "shop", "a");
    created(&mut bench, "bank", "b");
    assert_eq!(names(&bench.on(start_in("shop")).runs()), ["a"]);
    created(&mut bench, "shop", "c");
    assert_eq!(names(&bench.runs()), ["c"], "and those that come later");
    created(&mut bench, "bank", "d");
    bench.idle();
    bench.on(Input::PrimaryChanged {
        key: ObjectKey::cluster_scoped("e"),
        uid: uid_of("e", 1),
        cause: Cause::Created,
        deleting: false,
    });
    bench.idle();
    assert_eq!(bench.machine.snapshot().pending, 3, "nothing is forgotten");
    assert_eq!(names(&bench.on(start_in("bank")).runs()), ["b", "d"], "in the order in which they appeared");
    assert_eq!(names(&bench.on(START).runs()), ["e"]);
    bench.on(start_in("bank")).idle();
}

#[test]
fn what_happened_while_a_namespace_waited_is_one_run() {
    let mut bench = Bench::stopped(MachineConfig::default());
    bench.on(start_in("shop"));
    created(&mut bench, "bank", "b");
    let key = ObjectKey::namespaced("bank", "b");
    for _ in 0..3 {
        bench.on(Input::Related { key: key.clone(), cause: SOURCE }).idle();
    }
    bench.pass(Duration::from_secs(24 * 60 * 60)).idle();
    let run = bench.on(start_in("bank")).run();
    assert!(run.causes.contains(SOURCE) && run.causes.contains(Cause::InitialList), "{:?}", run.causes);
    bench.finished(&run, SUCCESS).idle();
}

#[test]
fn a_primary_that_goes_while_its_namespace_waits_leaves_nothing() {
    let mut bench = Bench::stopped(MachineConfig::default());
    created(&mut bench, "bank", "b");
    let key = ObjectKey::namespaced("bank", "b");
    bench.on(Input::PrimaryDeleted { key, uid: uid_of("b", 1), last: None }).idle();
    bench.on(start_in("bank")).idle().empty();
}

#[test]
fn a_namespace_that_is_started_hurries_nobody_elsewhere() {
    let mut bench = Bench::stopped(linear(60_000, 5));
    created(&mut bench, "shop", "a");
    let run = bench.on(start_in("shop")).run();
    bench.finished(&run, FAILURE).idle();
    bench.on(start_in("bank")).idle();
    bench.on(START).idle();
    assert_eq!(bench.pass(millis(60_000)).run().key.name(), "a", "its retry comes when it is due");
}

fn rescoped<const N: usize>(opening: u64, before: [&str; N], now: &str) -> Input {
    let of = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    Input::Rescoped { opening, before: of(&before), now: of(&[now]) }
}

#[test]
fn what_is_kept_of_an_end_goes_with_its_namespace() {
    for is_running in [false, true] {
        let mut bench = Bench::new();
        created(&mut bench, "shop", "a");
        let run = bench.run();
        bench.finished(&run, SUCCESS);
        let key = ObjectKey::namespaced("shop", "a");
        let end = Input::PrimaryDeleted { key, uid: uid_of("a", 1), last: Some(departed()) };
        let run = bench.on(end).run();
        if !is_running {
            bench.finished(&run, FAILURE).idle();
        }
        bench.on(rescoped(1, ["shop"], "bank")).idle();
        if is_running {
            bench.finished(&run, FAILURE).idle();
        }
        assert_eq!(bench.effects, [Effect::Forgotten(run.key)]);
        bench.empty();
    }
}

#[test]
fn an_opening_that_began_before_the_namespaces_were_changed_lets_nothing_start() {
    let mut bench = Bench::stopped(MachineConfig::default());
    bench.on(rescoped(1, ["shop"], "bank"));
    created(&mut bench, "bank", "b");
    bench.on(START).idle();
    bench.on(start_in("bank")).idle();
    created(&mut bench, "shop", "late");
    assert_eq!(
        names(&bench.on(Input::Start { opening: 1, namespace: None }).runs()),
        ["b"],
        "what was left stays closed"
    );
}
