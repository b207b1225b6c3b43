//! Event sources that run only while a node is active.

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::watch;

use super::*;
use crate::{
    event_source::{EventSink, EventSource, PrimaryChange, SourceDeclaration, SourceEvents, Sources, Wiring},
    observe::{Cause, SourceIndex},
    resource::{Departed, ObjectKey},
};

/// A source that is synced when the test says so, and counts its runs.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    pub(super) synced: watch::Sender<bool>,
    pub(super) running: Arc<AtomicUsize>,
    starts: Arc<AtomicUsize>,
    events: Arc<Mutex<Option<SourceEvents>>>,
}

impl Scripted {
    pub(super) fn new() -> Self {
        Self {
            synced: watch::Sender::new(false),
            running: Arc::default(),
            starts: Arc::default(),
            events: Arc::default(),
        }
    }

    fn wake(&self, primary: &str) {
        let events = self.events.lock().clone().unwrap();
        events.wake(&ObjectKey::namespaced("shop", primary));
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

impl SourceDeclaration for Scripted {
    fn name(&self) -> String {
        "Route".to_owned()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        self.starts.fetch_add(1, Ordering::SeqCst);
        *self.events.lock() = Some(wiring.events(index, "Route"));
        sources.add_source(Arc::new(self.clone()));
    }
}

impl EventSource for Scripted {
    fn name(&self) -> &str {
        "Route"
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let running = Arc::clone(&self.running);
        async move {
            running.fetch_add(1, Ordering::SeqCst);
            let _running = fake::UnderWay(running);
            std::future::pending().await
        }
        .boxed()
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let mut synced = self.synced.subscribe();
        async move {
            let _ = synced.wait_for(|synced| *synced).await;
        }
        .boxed()
    }
}

/// Keeps which primaries were woken.
#[derive(Default)]
pub(super) struct Woken(Mutex<Vec<String>>);

impl Woken {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl EventSink for Woken {
    fn primary_changed(&self, _: PrimaryChange<'_>) {}
    fn primary_deleted(&self, _: &ObjectKey, _: &str, _: Option<Departed>) {}
    fn related_changed(&self, primary: &ObjectKey, _: Cause) {
        self.0.lock().push(primary.name().to_owned());
    }
}

struct World {
    source: Scripted,
    woken: Arc<Woken>,
    offline: Offline,
}

impl World {
    fn new() -> Self {
        let (source, woken) = (Scripted::new(), Arc::new(Woken::default()));
        let conditional = vec![Arc::new(source.clone()) as Arc<dyn SourceDeclaration>];
        let sink = Arc::clone(&woken) as Arc<dyn EventSink>;
        let offline = Offline::new(OfflineParts { conditional, sink, ..OfflineParts::default() });
        Self { source, woken, offline }
    }

    /// A node that needs the source, where the cluster is able to.
    fn node(&self, name: &str, active: &Says) -> Node {
        let sources = vec![DependentSource::shared(Arc::new(self.source.clone()))];
        let fake = Fake { sources, ..Fake::named(name, &Log::default()) };
        fake.node().needs(active.clone())
    }

    async fn run(&self, workflow: &Workflow<ConfigMap>, name: &str) -> Vec<String> {
        let primary = primary(name);
        let result = workflow.reconcile(&primary, &self.offline.context(&primary)).await;
        // Lets tasks that were started or stopped come to it.
        sleep(ROUND_TRIP).await;
        lines(&result)
    }
}

const WAITS: &str = "route: waiting: informer of Route is syncing";
const NO: &str = "no such kind";
const INACTIVE: &str = "route: inactive: no such kind";

#[tokio::test(start_paused = true)]
async fn a_node_waits_for_its_source_and_is_woken_once_it_is_synced() {
    let world = World::new();
    let all = workflow([world.node("route", &Says::yes()), Fake::named("other", &Log::default()).node()]);
    assert_eq!(world.run(&all, "one").await, [WAITS, "other: created"]);
    world.source.wake("one");
    assert_eq!((world.source.running(), world.woken.take().len()), (1, 0), "its first list wakes nobody");
    world.source.synced.send_replace(true);
    sleep(ROUND_TRIP).await;
    assert_eq!(world.woken.take(), ["one"]);
    assert_eq!(world.run(&all, "one").await, ["route: created", "other: matched"]);
    assert_eq!(world.source.starts.load(Ordering::SeqCst), 1);
}

/// The answer changes between the runs of two primaries.
#[tokio::test(start_paused = true)]
async fn opposite_answers_dont_disturb_each_other() {
    let (world, active) = (World::new(), Says::no(NO));
    let all = workflow([world.node("route", &active)]);
    world.source.synced.send_replace(true);
    assert_eq!(world.run(&all, "two").await, [INACTIVE]);
    assert_eq!(world.source.running(), 0, "nobody needs it");
    active.change(None);
    world.run(&all, "one").await;
    assert_eq!(world.run(&all, "one").await, ["route: created"]);
    active.change(Some(NO));
    assert_eq!(world.run(&all, "two").await, [INACTIVE]);
    assert_eq!(world.source.running(), 1, "the other one still needs it");
    world.woken.take();
    world.source.wake("one");
    world.source.wake("two");
    assert_eq!(world.woken.take(), ["one"], "what changes there is nothing to who is inactive");
    assert_eq!(world.run(&all, "one").await, [INACTIVE]);
    assert_eq!(world.source.running(), 0);
    world.source.wake("one");
    assert!(world.woken.take().is_empty());
    active.change(None);
    world.run(&all, "two").await;
    assert_eq!(world.source.starts.load(Ordering::SeqCst), 2, "it begins anew");
}

#[tokio::test(start_paused = true)]
async fn several_nodes_share_a_source_and_the_last_one_stops_it() {
    let world = World::new();
    world.source.synced.send_replace(true);
    let (first, second) = (Says::yes(), Says::yes());
    let all = workflow([world.node("a", &first), world.node("b", &second)]);
    world.run(&all, "one").await;
    first.change(Some(NO));
    world.run(&all, "one").await;
    assert_eq!(world.source.running(), 1);
    second.change(Some(NO));
    world.run(&all, "one").await;
    assert_eq!((world.source.running(), world.source.starts.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn all_nodes_are_asked_at_the_start_also_those_that_are_not_come_to() {
    let (world, active) = (World::new(), Says::yes());
    world.source.synced.send_replace(true);
    let above = || Fake::named("above", &Log::default()).node().ready(Says::no("not yet").met());
    let all = workflow([above(), world.node("route", &active).after(Called("above"))]);
    let waits = ["above: created, not ready: not yet", WAITS];
    assert_eq!(world.run(&all, "one").await, waits, "its source starts before its turn has come");
    assert_eq!((active.asked(), world.source.running()), (1, 1));
    let waits = ["above: matched, not ready: not yet", "route: waiting for above to be ready: not yet"];
    assert_eq!(world.run(&all, "one").await, waits);
    active.change(Some(NO));
    assert_eq!(world.run(&all, "one").await, ["above: matched, not ready: not yet", INACTIVE]);
    assert_eq!((active.asked(), world.source.running()), (3, 0), "nobody can use it");
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_holds_up_only_its_own_node() {
    struct Slow;

    impl Activation for Slow {
        async fn check(&self, _: &Cluster<'_>) -> Result<Verdict, BoxError> {
            sleep(ROUND_TRIP * 50).await;
            Ok(Verdict::met())
        }
    }

    let log = Log::default();
    let all = workflow([
        Fake::named("slow", &log).node().needs(Slow),
        Fake::named("other", &log).node(),
        Fake::named("further", &log).node().after(Called("other")),
    ]);
    let primary = primary("one");
    let context = Offline::new(OfflineParts::default()).context(&primary);
    let after_two = tokio::time::timeout(ROUND_TRIP * 3, all.reconcile(&primary, &context));
    assert!(after_two.await.is_err());
    assert_eq!(log.take(), ["create other", "create further"]);
}

#[tokio::test(start_paused = true)]
async fn a_clean_up_asks_nothing_about_what_it_leaves_and_needs_no_source_for_it() {
    let (world, active) = (World::new(), Says::yes());
    let sources = vec![DependentSource::shared(Arc::new(world.source.clone()))];
    let fake = Fake { sources, ..Fake::named("route", &Log::default()) };
    let all = workflow([fake.kept().needs(active.clone())]);
    assert_eq!(world.run(&all, "one").await, [WAITS]);
    assert_eq!((active.asked(), world.source.running()), (1, 1));
    let primary = primary("one");
    let result = all.cleanup(&primary, &world.offline.context(&primary)).await;
    sleep(ROUND_TRIP).await;
    assert_eq!(lines(&result), ["route: left as it is: its dependent doesn't delete it"]);
    assert_eq!((active.asked(), world.source.running()), (1, 0), "its source isn't waited for, nor kept");
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_is_gone_needs_nothing_more() {
    let world = World::new();
    let all = workflow([world.node("route", &Says::yes())]);
    let primary = primary("one");
    let context = world.offline.context(&primary);
    all.reconcile(&primary, &context).await;
    sleep(ROUND_TRIP).await;
    assert_eq!(world.source.running(), 1);
    world.offline.shared.scopes.gone(context.primary_key());
    sleep(ROUND_TRIP).await;
    assert_eq!(world.source.running(), 0);

    // A run that outlives its primary claims nothing: nobody would ever take it back.
    let ghost = World::new();
    let claimant = crate::event_source::Claimant { workflow: 0, node: 0 };
    let sources = ghost.offline.shared.sources.conditional();
    let claimed = sources.claim("Route", ghost.offline.shared.scopes.of(context.primary_key()), claimant);
    sleep(ROUND_TRIP).await;
    assert!(claimed.is_err());
    assert_eq!(ghost.source.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn it_is_waited_for_while_it_is_behind_and_nothing_starts_after_the_end() {
    let world = World::new();
    let all = workflow([world.node("route", &Says::yes())]);
    let conditional = Arc::clone(world.offline.shared.sources.conditional());
    assert!(conditional.caught_up().await.unwrap(), "what doesn't run isn't waited for");
    world.run(&all, "one").await;
    assert!(!conditional.caught_up().await.unwrap());
    world.source.synced.send_replace(true);
    sleep(ROUND_TRIP).await;
    assert!(conditional.caught_up().await.unwrap());
    assert!(conditional.ended_tasks().is_empty());
    conditional.close();
    sleep(ROUND_TRIP).await;
    assert_eq!(world.source.running(), 0);
    world.run(&all, "one").await;
    assert_eq!(world.source.running(), 0);
}
