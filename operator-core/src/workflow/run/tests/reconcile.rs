//! What a run does, and how long that takes.

use super::*;
use crate::{
    reconciler::WorkflowSurroundings,
    results::{ConditionKind, NodeState, Operation, WorkflowError},
};

#[tokio::test(start_paused = true)]
async fn ten_independent_nodes_take_one_round_trip() {
    let log = Log::default();
    let ten = workflow((0..10).map(|n| Fake::named(&n.to_string(), &log).node()));
    let (result, round_trips) = reconciled(&ten).await;
    assert!(result.all_ready(), "{result}");
    assert_eq!((log.take().len(), round_trips), (10, 1));
    let (result, round_trips) = reconciled(&ten).await;
    assert_eq!((result.to_string().matches("matched").count(), round_trips), (10, 0));
}

#[tokio::test(start_paused = true)]
async fn no_more_dependents_are_called_at_the_same_time_than_the_operator_allows() {
    let log = Log::default();
    let ten = || workflow((0..10).map(|n| Fake::named(&n.to_string(), &log).node()));
    let (ten, ten_more) = (ten(), ten());
    let workflows = WorkflowSurroundings::new(3);
    let offline = Offline::new(OfflineParts { workflows, ..OfflineParts::default() });
    let (first, second) = (primary("one"), primary("two"));
    let (of_first, of_second) = (offline.context(&first), offline.context(&second));
    let started = Instant::now();
    let (one, two) =
        futures::join!(ten.reconcile(&first, &of_first), ten_more.reconcile(&second, &of_second));
    assert!(one.all_ready() && two.all_ready());
    assert_eq!(started.elapsed(), ROUND_TRIP * 7, "twenty calls, three at a time, both runs together");
}

#[tokio::test(start_paused = true)]
async fn a_node_runs_after_all_it_depends_on_and_a_chain_takes_as_long_as_it_is() {
    let log = Log::default();
    let chain = workflow([
        Fake::named("c", &log).node().after(Called("b")),
        Fake::named("b", &log).node().after(Called("a")).after(Called("x")),
        Fake::named("a", &log).node(),
        Fake::named("x", &log).node(),
    ]);
    let (result, round_trips) = reconciled(&chain).await;
    assert_eq!(
        (log.take(), round_trips),
        (["create a", "create x", "create b", "create c"].map(str::to_owned).to_vec(), 3)
    );
    assert_eq!(lines(&result), ["c: created", "b: created", "a: created", "x: created"]);
}

#[tokio::test(start_paused = true)]
async fn every_node_says_what_became_of_it_and_why() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log);
    let all = workflow([
        fake("web").node().ready(Says::no("1/3 replicas").met()),
        fake("service").node().after(Called("web")),
        fake("route").node().needs(Says::no("CRD routes.example.com is not installed")),
        fake("behind-route").existing().node().requires(Called("route")),
        fake("job").node().only_if(Says::no("outside of the window").held()),
        fake("behind-job").node().after(Called("job")),
        fake("ingress").existing().node().only_if(Says::no("not exposed").met()),
        Fake { fails: true, ..fake("db") }.node(),
        fake("app").node().after(Called("db")),
        fake("read").existing().kept().only_if(Says::no("not wanted").met()),
    ]);
    let (result, _) = reconciled(&all).await;
    let expected = [
        "web: created, not ready: 1/3 replicas",
        "service: waiting for web to be ready: 1/3 replicas",
        "route: inactive: CRD routes.example.com is not installed",
        "behind-route: deleted",
        "job: held: outside of the window",
        "behind-job: waiting for job to be released: outside of the window",
        "ingress: deleted",
        "db: failed: the server is in a bad mood",
        "app: waiting for db to succeed",
        "read: left as it is: its dependent doesn't delete it",
    ];
    assert_eq!(lines(&result), expected);
    assert_eq!(log.take(), ["create web", "delete behind-route", "delete ingress"]);
    let Err(WorkflowError::Nodes(errors)) = result.check() else { panic!("db has failed") };
    assert_eq!(errors.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["db"]);
    let not_ready = result.nodes().iter().filter(|node| matches!(node.state, NodeState::NotReady { .. }));
    assert_eq!(not_ready.map(|node| &*node.name).collect::<Vec<_>>(), ["web"]);
    assert!(!result.all_ready());
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_an_error_belong_to_the_node_that_owns_them() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log);
    let all = workflow([
        Fake { panics: true, ..fake("a") }.node(),
        fake("b").node().needs(Breaks { panics: true }),
        fake("c").node().ready(Breaks { panics: true }.met()),
        fake("d").node().only_if(Breaks { panics: false }.met()),
        fake("e").node(),
        fake("f").node().after(Called("d")),
    ]);
    let (result, _) = reconciled(&all).await;
    let expected = [
        "a: failed: the dependent panicked: a bug",
        "b: failed: the condition `needs` panicked: a bug",
        "c: failed: the condition `ready` panicked: a bug",
        "d: failed: nobody knows",
        "e: created",
        "f: waiting for d to succeed",
    ];
    assert_eq!(lines(&result), expected);
    let error = result.check().unwrap_err();
    assert!(error.is_panic() && error.is_retryable());
}

#[tokio::test(start_paused = true)]
async fn a_condition_is_asked_once_and_its_detail_is_in_the_result() {
    let (log, active, ready) = (Log::default(), Says::yes(), Says::yes());
    let removed = Says::no("not wanted");
    let all = workflow([
        Fake::named("a", &log).node().needs(active.clone()).ready(ready.clone().met()),
        Fake::named("b", &log).existing().node().needs(active.clone()).only_if(removed.clone().met()),
    ]);
    let (result, _) = reconciled(&all).await;
    assert_eq!((active.asked(), ready.asked(), removed.asked()), (2, 1, 1), "b's was needed twice");
    let (a, b) = (result.node_named("a").unwrap(), result.node_named("b").unwrap());
    assert_eq!(a.conditions[&ConditionKind::Ready].detail::<u32>(), Some(&7));
    assert_eq!(a.conditions[&ConditionKind::Ready].detail::<String>(), None);
    let reason = b.conditions[&ConditionKind::OnlyIf].reason();
    assert_eq!(reason, "not wanted");
    let made = a.reconciled.as_ref().and_then(|made| made.resource::<String>());
    assert_eq!(made.as_deref().map(String::as_str), Some("a"));
    assert_eq!(a.state, NodeState::Ready(Operation::Created));
}

#[tokio::test(start_paused = true)]
async fn a_gate_runs_holds_or_removes() {
    let log = Log::default();
    let gates = [Want::Is(()), Want::hold("Later", "later"), Want::none("never")];
    let all = workflow(gates.into_iter().zip(["run", "hold", "remove"]).map(|(gate, name)| {
        Fake::named(name, &log).existing().node().only_if(move |_: &ConfigMap| gate.clone())
    }));
    let (result, _) = reconciled(&all).await;
    assert_eq!(lines(&result), ["run: matched", "hold: held: later", "remove: deleted"]);
    assert_eq!(log.take(), ["delete remove"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_as_it_should_be_waits_for_nobody() {
    let log = Log::default();
    let slow = workflow([Fake::named("slow", &log).node()]);
    let quick = workflow([Fake::named("quick", &log).existing().node()]);
    let workflows = WorkflowSurroundings::new(1);
    let offline = Offline::new(OfflineParts { workflows, ..OfflineParts::default() });
    let (first, second) = (primary("one"), primary("two"));
    let (of_first, of_second) = (offline.context(&first), offline.context(&second));
    let started = Instant::now();
    let timed = async {
        let result = quick.reconcile(&second, &of_second).await;
        (result, started.elapsed())
    };
    let (one, (two, took)) = futures::join!(slow.reconcile(&first, &of_first), timed);
    assert!(one.all_ready() && two.all_ready());
    assert_eq!(took, Duration::ZERO, "there was nothing to do, and another one's create was under way");
}

/// By whom and why a node is not to be there, and how many of it were.
fn unwanted(result: &Run<ConfigMap>, node: &str) -> Option<(Option<String>, String, Option<usize>)> {
    let unwanted = result.node_named(node).unwrap().unwanted.clone()?;
    Some((unwanted.by.map(|by| by.to_string()), unwanted.reason, unwanted.deleted))
}

#[tokio::test(start_paused = true)]
async fn what_is_removed_says_by_whom_and_why_and_whether_it_was_there() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log);
    let all = workflow([
        fake("page").node(),
        fake("ingress").existing().node().after(Called("page")).only_if(Says::no("not exposed").met()),
        fake("rules").node().requires(Called("ingress")),
        fake("extra").existing().node().requires(Called("rules")),
        fake("own").existing().node().only_if(Says::no("not wanted").met()),
        fake("read").existing().kept().only_if(Says::no("not readable").met()),
    ]);
    let (result, _) = reconciled(&all).await;
    let by = |by: &str, reason: &str, deleted| Some((Some(by.to_owned()), reason.to_owned(), deleted));
    assert_eq!(unwanted(&result, "page"), None);
    assert_eq!(unwanted(&result, "ingress"), by("ingress", "not exposed", Some(1)));
    assert_eq!(unwanted(&result, "rules"), by("ingress", "not exposed", Some(0)), "it was never there");
    assert!(result.node_named("rules").unwrap().unwanted.as_ref().unwrap().found_nothing());
    assert_eq!(unwanted(&result, "extra"), by("ingress", "not exposed", Some(1)));
    assert_eq!(unwanted(&result, "own"), by("own", "not wanted", Some(1)));
    assert_eq!(unwanted(&result, "read"), by("read", "not readable", None), "nobody deletes it");

    let primary = primary("one");
    let context = Offline::new(OfflineParts::default()).context(&primary);
    let result = all.cleanup(&primary, &context).await;
    let with_the_primary = |deleted| Some((None, String::new(), deleted));
    assert_eq!(unwanted(&result, "page"), with_the_primary(Some(1)));
    assert_eq!(unwanted(&result, "ingress"), with_the_primary(Some(0)));
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_has_to_wait_says_why_it_is_to_be() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log).existing();
    let all = workflow([
        fake("app").node().only_if(Says::no("not wanted").met()),
        Fake { fails: true, ..fake("user") }.node().requires(Called("app")),
    ]);
    let (result, _) = reconciled(&all).await;
    assert_eq!(lines(&result)[0], "app: waiting for user to be gone, which failed");
    let by_app = Some((Some("app".to_owned()), "not wanted".to_owned(), None));
    assert_eq!((unwanted(&result, "app"), unwanted(&result, "user")), (by_app.clone(), by_app));
}

#[tokio::test(start_paused = true)]
async fn a_hold_stops_a_removal_that_comes_down_the_chain() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log).existing().node();
    let all = workflow([
        fake("gate").only_if(Says::no("not wanted").met()),
        fake("between").requires(Called("gate")),
        fake("held").requires(Called("between")).only_if(Says::no("outside of the window").held()),
        fake("behind").after(Called("held")),
        fake("behind-both").after(Called("held")).requires(Called("beside")),
        fake("beside").requires(Called("gate")),
    ]);
    let (result, _) = reconciled(&all).await;
    let why = "to be released: outside of the window";
    let expected = [
        format!("gate: waiting for held {why}"),
        format!("between: waiting for held {why}"),
        "held: held: outside of the window".to_owned(),
        format!("behind: waiting for held {why}"),
        "behind-both: deleted".to_owned(),
        "beside: deleted".to_owned(),
    ];
    assert_eq!(lines(&result), expected);
    assert_eq!(log.take(), ["delete behind-both", "delete beside"]);
}

#[tokio::test(start_paused = true)]
async fn a_removal_waits_for_a_gate_that_can_not_be_asked_if_it_may_hold() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log).existing().node();
    let all = workflow([
        fake("gate").only_if(Says::no("not wanted").met()),
        fake("may-hold").requires(Called("gate")).only_if(Breaks { panics: false }.held()),
        fake("other-gate").only_if(Says::no("not wanted").met()),
        fake("may-not").requires(Called("other-gate")).only_if(Breaks { panics: true }.met()),
    ]);
    let (result, _) = reconciled(&all).await;
    let expected = [
        "gate: waiting for may-hold to be released, which failed",
        "may-hold: failed: nobody knows",
        "other-gate: deleted",
        "may-not: deleted",
    ];
    assert_eq!(lines(&result), expected);
    assert_eq!(log.take(), ["delete may-not", "delete other-gate"]);
}

#[tokio::test(start_paused = true)]
async fn a_gate_removes_its_node_also_behind_one_that_is_not_ready() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log).existing().node();
    let all = workflow([
        fake("web").ready(Says::no("1/3 replicas").met()),
        fake("service").after(Called("web")).only_if(Says::no("not published").met()),
        fake("ingress").requires(Called("service")),
        fake("config").after(Called("web")).only_if(Says::yes().met()),
        fake("asks-too-much").after(Called("web")).only_if(Breaks { panics: false }.met()),
        fake("deep").after(Called("config")).only_if(Says::no("not wanted").met()),
    ]);
    let (result, _) = reconciled(&all).await;
    let waits = "waiting for web to be ready: 1/3 replicas";
    let expected = [
        "web: matched, not ready: 1/3 replicas".to_owned(),
        "service: deleted".to_owned(),
        "ingress: deleted".to_owned(),
        format!("config: {waits}"),
        format!("asks-too-much: {waits}"),
        "deep: deleted".to_owned(),
    ];
    assert_eq!(lines(&result), expected);
    assert_eq!(log.take(), ["delete ingress", "delete deep", "delete service"]);
    assert!(result.check().is_ok(), "a gate that can't be asked yet is asked when its turn comes");
}
