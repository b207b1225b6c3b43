//! Informers that share their list-watch: what each is told, and what is asked for.

use std::{collections::BTreeMap, future::pending, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use crate::{
    cache::{
        AnyIndexer, Change, ChangeHandler, ChangeKind, Informer, InformerPlan, InformerPool,
        InformerSettings, Selects, Share, TextObject, View, kind_of,
    },
    environment::Environment,
    observe::SourceHealth,
    resource::ResourceType,
};

use super::{
    recorder::key,
    scene::{SEED, item},
    server::{Server, scripted},
};

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl ChangeHandler for Told {
    fn on_change(&self, change: Change) {
        let sign = match &change.kind {
            ChangeKind::Added { .. } => "+",
            ChangeKind::Updated { .. } => "",
            ChangeKind::Deleted { .. } => "-",
        };
        let version = change.kind.object().version().unwrap_or_default().to_owned();
        self.0.lock().push(format!("{sign}{}@{version}", change.key.name()));
    }
}

/// Informers of one pool, and their server.
struct Scene {
    pool: InformerPool,
    client: Client,
    server: Server,
    environment: Environment,
}

/// A running informer. Dropping its task stops it.
struct Running {
    informer: Informer,
    told: Arc<Told>,
    task: JoinHandle<()>,
}

impl Scene {
    fn new() -> Self {
        let (client, server) = scripted();
        let environment = Environment::real().with_seed(SEED);
        Self { pool: InformerPool::default(), client, server, environment }
    }

    fn start(&self) -> Running {
        self.start_of(None)
    }

    /// One that selects only some of what all follow.
    fn start_of(&self, selects: Option<Selects>) -> Running {
        self.start_with(selects, BTreeMap::new())
    }

    fn start_with(&self, selects: Option<Selects>, indexers: BTreeMap<String, AnyIndexer>) -> Running {
        let settings = InformerSettings::new("test", ResourceType::of::<ConfigMap>());
        let view = Arc::new(View::new(&settings, kind_of::<ConfigMap>(), &self.environment));
        let indexers = view.opens(indexers);
        let told = Arc::new(Told::default());
        let wider = selects.map(|selects| ("by in (a,b)".to_owned(), selects));
        let share = Some(Share { pool: self.pool.clone(), wider });
        let plan = InformerPlan {
            settings,
            bounds: None,
            share,
            view,
            client: self.client.clone(),
            environment: self.environment.clone(),
        };
        let informer = Informer::new(plan, Arc::clone(&told) as _, indexers);
        let runner = informer.clone();
        let task = self.environment.spawn("test", async move { runner.run(pending()).await });
        Running { informer, told, task }
    }
}

impl Running {
    async fn take(&self) -> Vec<String> {
        sleep(Duration::from_millis(1)).await;
        std::mem::take(&mut *self.told.0.lock())
    }

    async fn stop(self) -> Arc<Told> {
        self.task.abort();
        let _ = self.task.await;
        self.told
    }
}

fn labelled(name: &str, version: u64, by: &str) -> Value {
    let mut item = item(name, version);
    item["metadata"]["labels"] = json!({ "by": by });
    item
}

#[tokio::test(start_paused = true)]
async fn one_list_and_one_watch_serve_all_and_each_filters_its_own_writes() {
    let mut scene = Scene::new();
    let (one, two) = (scene.start(), scene.start());
    scene.server.answer_list(10, &[item("a", 5), item("b", 6)]).await;
    let watch = scene.server.open_watch(10).await;
    assert_eq!(one.take().await, ["+a@5", "+b@6"]);
    assert_eq!(two.take().await, ["+a@5", "+b@6"]);

    // The echo of a write by one of them is news for the other.
    let mut write = one.informer.begin_write(&key("a"));
    write.answered(one.informer.answer(&item("a", 12).to_string()).unwrap());
    drop(write);
    assert!(two.informer.kept(&key("a")).is_some_and(|kept| kept.version() == Some("5")));
    watch.event("MODIFIED", &item("a", 12));
    watch.event("DELETED", &item("b", 13));
    assert_eq!(
        (one.take().await, two.take().await),
        (vec!["-b@13".into()], vec!["a@12".into(), "-b@13".into()])
    );
    let bytes = |of: &Running| of.informer.kept(&key("a")).map(|kept| kept.text().as_ptr());
    assert_eq!(bytes(&one), bytes(&two), "there is one copy of it");
    assert_eq!((one.informer.leftovers(), two.informer.leftovers()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn who_comes_later_is_told_what_is_there_and_nothing_is_asked_for() {
    let mut scene = Scene::new();
    let one = scene.start();
    scene.server.answer_list(10, &[item("a", 5), item("b", 6)]).await;
    let watch = scene.server.open_watch(10).await;
    watch.event("MODIFIED", &item("a", 12));
    watch.event("DELETED", &item("b", 13));
    watch.event("ADDED", &item("c", 14));
    assert_eq!(one.take().await, ["+a@5", "+b@6", "a@12", "-b@13", "+c@14"]);
    let late = scene.start();
    assert_eq!(late.take().await, ["+a@12", "+c@14"]);
    assert!(late.informer.is_synced());
    watch.event("MODIFIED", &item("c", 15));
    assert_eq!((one.take().await, late.take().await), (vec!["c@15".to_owned()], vec!["c@15".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn who_comes_in_the_middle_of_a_list_is_told_what_is_there_and_synced_at_its_end() {
    let mut scene = Scene::new();
    let one = scene.start();
    scene.server.next().await.page(10, &[item("a", 5)], "more");
    let second_page = scene.server.next().await;
    assert_eq!(one.take().await, ["+a@5"]);
    let late = scene.start();
    assert_eq!(late.take().await, ["+a@5"]);
    assert!(!late.informer.is_synced());
    second_page.page(10, &[item("b", 6)], "");
    let _watch = scene.server.open_watch(10).await;
    assert_eq!((one.take().await, late.take().await), (vec!["+b@6".to_owned()], vec!["+b@6".to_owned()]));
    assert!(late.informer.is_synced());
}

/// A page of a later list has been seen, and the next one, which shows what is gone, hasn't.
#[tokio::test(start_paused = true)]
async fn who_comes_in_the_middle_of_a_later_list_hears_of_what_it_shows_at_its_end() {
    let mut scene = Scene::new();
    let one = scene.start();
    scene.server.answer_list(10, &[item("a", 5), item("b", 6), item("c", 7)]).await;
    let watch = scene.server.open_watch(10).await;
    assert_eq!(one.take().await, ["+a@5", "+b@6", "+c@7"]);
    watch.expired();
    scene.server.next().await.page(30, &[item("a", 25)], "more");
    let second_page = scene.server.next().await;
    let late = scene.start();
    assert_eq!(
        (one.take().await, late.take().await),
        (vec!["a@25".to_owned()], vec!["+a@25".to_owned(), "+b@6".to_owned(), "+c@7".to_owned()])
    );
    assert!(!late.informer.is_synced(), "what it was told may be gone");
    second_page.page(30, &[item("c", 7), item("d", 28)], "");
    let watch = scene.server.open_watch(30).await;
    let (told, late_told) = (one.take().await, late.take().await);
    assert_eq!((&told, late.informer.is_synced()), (&late_told, true));
    assert_eq!(told, ["+d@28", "-b@6"]);
    watch.event("MODIFIED", &item("c", 31));
    assert_eq!((one.take().await, late.take().await), (vec!["c@31".to_owned()], vec!["c@31".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn another_one_goes_on_where_the_driver_stopped() {
    let mut scene = Scene::new();
    let (one, two) = (scene.start(), scene.start());
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    watch.event("MODIFIED", &item("a", 12));
    assert_eq!(two.take().await, ["+a@5", "a@12"]);
    let told = one.stop().await;
    told.0.lock().clear();
    // No list: only a watch from the version that was reached.
    let watch = scene.server.open_watch(12).await;
    watch.event("MODIFIED", &item("a", 13));
    assert_eq!(two.take().await, ["a@13"]);
    assert_eq!(*told.0.lock(), [""; 0], "who has left hears nothing more");
    // With the last one everything is forgotten.
    two.stop().await;
    let three = scene.start();
    scene.server.answer_list(20, &[item("z", 15)]).await;
    assert_eq!(three.take().await, ["+z@15"]);
}

#[tokio::test(start_paused = true)]
async fn each_sees_what_it_selects() {
    let mut scene = Scene::new();
    let by = |name: &'static str| -> Selects {
        Arc::new(move |kept: &TextObject| kept.label("by").as_deref() == Some(name))
    };
    let (one, two) = (scene.start_of(Some(by("a"))), scene.start_of(Some(by("b"))));
    scene.server.answer_list(10, &[labelled("x", 5, "a"), labelled("y", 6, "b")]).await;
    let watch = scene.server.open_watch(10).await;
    assert_eq!((one.take().await, two.take().await), (vec!["+x@5".to_owned()], vec!["+y@6".to_owned()]));
    // It goes from one to the other.
    watch.event("MODIFIED", &labelled("x", 12, "b"));
    watch.event("DELETED", &labelled("y", 13, "b"));
    let (one_told, two_told) = (one.take().await, two.take().await);
    assert_eq!((one_told, two_told), (vec!["-x@12".into()], vec!["+x@12".into(), "-y@13".into()]));
    // What is the other's shows how far the collection has come.
    assert_eq!(one.informer.last_syncs()[0].1.map(|version| version.to_string()), Some("13".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_indexes_have_left_with_shared_objects_goes_with_their_informer() {
    let mut scene = Scene::new();
    let one = scene.start();
    scene.server.answer_list(10, &[item("a", 5), item("b", 6)]).await;
    let _watch = scene.server.open_watch(10).await;
    assert_eq!(one.take().await.len(), 2);
    let values: AnyIndexer = Arc::new(|object| object.meta().name.clone().into_iter().collect());
    for round in 0..100 {
        let late = scene.start_with(None, [("name".to_owned(), Arc::clone(&values))].into());
        assert_eq!(late.take().await.len(), 2);
        assert_eq!(late.informer.by_index("name", "a").len(), 1);
        let Running { informer, task, .. } = late;
        task.abort();
        let _ = task.await;
        drop(informer);
        let kept = one.informer.kept(&key("a")).expect("it exists");
        assert_eq!(kept.indexed_for(), 0, "after {} informers", round + 1);
    }
}

/// Whether it is synced, whether what it was told is complete, and its health.
fn state(of: &Running) -> (bool, SourceHealth) {
    (of.informer.is_synced(), of.informer.health())
}

#[tokio::test(start_paused = true)]
async fn who_comes_while_the_watch_is_not_open_waits_for_its_next_word_and_hears_of_its_trouble() {
    let mut scene = Scene::new();
    let one = scene.start();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    drop(scene.server.open_watch(10).await);
    // The next watch is refused, again and again.
    let late = scene.start();
    assert_eq!(late.take().await, ["+a@5"], "what the others know");
    assert!(!late.informer.is_synced(), "nobody knows what has happened since");
    for _ in 0..7 {
        scene.server.next().await.status(503, "ServiceUnavailable", "overloaded");
    }
    assert!(matches!(one.informer.health(), SourceHealth::Unhealthy { .. }), "{:?}", one.informer.health());
    assert_eq!(state(&late), (false, one.informer.health()));
    let later = scene.start();
    assert_eq!(later.take().await, ["+a@5"]);
    assert_eq!(
        state(&later),
        (false, one.informer.health()),
        "who comes in the middle of trouble is told of it"
    );

    let watch = scene.server.open_watch(10).await;
    assert_eq!(late.take().await, [""; 0]);
    assert!(!late.informer.is_synced(), "what has happened is on its way");
    watch.event("ADDED", &item("b", 12));
    assert_eq!((late.take().await, later.take().await), (vec!["+b@12".to_owned()], vec!["+b@12".to_owned()]));
    assert_eq!([state(&late), state(&later)], [(true, SourceHealth::Healthy), (true, SourceHealth::Healthy)]);
}

#[tokio::test(start_paused = true)]
async fn who_comes_while_the_watch_changes_hands_is_synced_although_nothing_happens() {
    let mut scene = Scene::new();
    let (one, two) = (scene.start(), scene.start());
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let _first = scene.server.open_watch(10).await;
    assert_eq!(two.take().await, ["+a@5"]);
    one.stop().await;
    let late = scene.start();
    assert_eq!(late.take().await, ["+a@5"]);
    assert!(!late.informer.is_synced(), "the other one's watch isn't open yet");
    let watch = scene.server.open_watch(10).await;
    assert_eq!(late.take().await, [""; 0]);
    assert!(!late.informer.is_synced(), "what has happened is on its way");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(state(&late), (true, SourceHealth::Healthy), "nothing has happened");
    watch.event("DELETED", &item("a", 12));
    assert_eq!((two.take().await, late.take().await), (vec!["-a@12".to_owned()], vec!["-a@12".to_owned()]));
}
