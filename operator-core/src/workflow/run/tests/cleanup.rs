//! What is deleted before a primary goes.

use super::*;
use crate::{reconciler::AnyGiven, resource::AnyObject, results::NodeState, workflow::run::Invoker};

async fn cleaned_up(workflow: &Workflow<ConfigMap>) -> Run<ConfigMap> {
    let primary = primary("one");
    let context = Offline::new(OfflineParts::default()).context(&primary);
    workflow.cleanup(&primary, &context).await
}

#[tokio::test(start_paused = true)]
async fn what_depends_on_others_goes_first_and_conditions_of_running_dont_count() {
    let log = Log::default();
    let fake = |name: &str| Fake::named(name, &log).existing();
    let all = workflow([
        fake("a").node().only_if(Says::no("held").held()).ready(Says::no("not ready").met()),
        fake("b").node().after(Called("a")).only_if(Says::no("not wanted").met()),
        fake("c").kept().after(Called("a")),
        fake("d").node().after(Called("b")).needs(Says::no("no such kind")),
    ]);
    let result = cleaned_up(&all).await;
    let left = "c: left as it is: its dependent doesn't delete it";
    // Nothing else would delete what is outside the cluster, whatever the cluster serves.
    assert_eq!(lines(&result), ["a: deleted", "b: deleted", left, "d: deleted"]);
    assert_eq!(log.take(), ["delete d", "delete b", "delete a"]);
    assert!(result.all_deleted());
}

#[tokio::test(start_paused = true)]
async fn what_is_not_gone_yet_keeps_what_it_depends_on() {
    let (log, gone) = (Log::default(), Says::no("it has a finalizer"));
    let all = workflow([
        Fake::named("a", &log).existing().node(),
        Fake::named("b", &log).existing().node().after(Called("a")).gone(gone.clone().met()),
    ]);
    let result = cleaned_up(&all).await;
    let expected = ["a: waiting for b to be gone: it has a finalizer", "b: deleting: it has a finalizer"];
    assert_eq!(lines(&result), expected);
    assert!(!result.all_deleted());
    let deleting = result.nodes().iter().filter(|node| matches!(node.state, NodeState::Deleting { .. }));
    assert_eq!(deleting.count(), 1);
    *gone.answer.lock() = None;
    let result = cleaned_up(&all).await;
    assert!(result.all_deleted(), "{result}");
    assert_eq!(log.take(), ["delete b", "delete a"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_deletion_stops_only_what_waits_for_it() {
    let log = Log::default();
    let all = workflow([
        Fake::named("a", &log).existing().node(),
        Fake { fails: true, ..Fake::named("b", &log).existing() }.node().after(Called("a")),
        Fake::named("x", &log).existing().node(),
    ]);
    let result = cleaned_up(&all).await;
    assert_eq!(lines(&result)[0], "a: waiting for b to be gone, which failed");
    assert!(matches!(result.node_named("b").unwrap().state, NodeState::Failed { .. }));
    assert_eq!(log.take(), ["delete x"]);
    assert!(result.check().is_err() && !result.all_deleted());
}

#[tokio::test(start_paused = true)]
async fn a_deletion_outside_the_cluster_that_takes_its_time_keeps_what_it_depends_on() {
    let log = Log::default();
    let slow = Fake { takes_its_time: true, ..Fake::named("slow", &log).existing() };
    let exists = Arc::clone(&slow.exists);
    let all = workflow([Fake::named("below", &log).existing().node(), slow.node().after(Called("below"))]);
    let result = cleaned_up(&all).await;
    let asked = "the deletion was requested, and takes its time";
    assert_eq!(
        lines(&result),
        [format!("below: waiting for slow to be gone: {asked}"), format!("slow: deleting: {asked}")]
    );
    *exists.lock() = false;
    assert!(cleaned_up(&all).await.all_deleted());
    assert_eq!(log.take(), ["delete slow", "delete below"]);
}

#[tokio::test(start_paused = true)]
async fn about_a_node_that_nobody_deletes_nothing_is_asked_unless_its_end_is_waited_for() {
    let (log, active, gone) = (Log::default(), Says::yes(), Says::no("somebody else has it"));
    let all = workflow([
        Fake::named("kept", &log).existing().kept().needs(active.clone()),
        Fake::named("others", &log).existing().kept().gone(gone.clone().met()),
    ]);
    let result = cleaned_up(&all).await;
    let left = "kept: left as it is: its dependent doesn't delete it";
    assert_eq!(lines(&result), [left, "others: deleting: somebody else has it"]);
    assert_eq!((active.asked(), gone.asked(), log.take()), (0, 1, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_clean_up_that_was_dropped_is_not_done_and_says_how_far_it_was() {
    let log = Log::default();
    let all = workflow([
        Fake::named("a", &log).existing().node(),
        Fake::named("b", &log).existing().node().after(Called("a")),
    ]);
    let primary = primary("one");
    let context = Offline::new(OfflineParts::default()).context(&primary);
    let told = Mutex::new(Vec::new());
    let unfinished = |result| told.lock().extend(lines(&result));
    let (declared, any) = (&all.any().0, Arc::clone(&primary) as AnyObject);
    let given = AnyGiven { primary: &any, context: context.any() };
    let cleanup = crate::workflow::run::run(declared, true, given, &unfinished, Invoker::Reconciler);
    assert!(tokio::time::timeout(ROUND_TRIP * 3 / 2, cleanup).await.is_err());
    assert_eq!(*told.lock(), ["a: pending: dependent called 0 s ago", "b: deleted"]);
    assert!(matches!(context.any().remembered().lock().is_cleaned_up(), Ok(false)), "the finalizer stays");
    assert!(all.cleanup(&primary, &context).await.all_deleted());
    assert!(matches!(context.any().remembered().lock().is_cleaned_up(), Ok(true)));
}
