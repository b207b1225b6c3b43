//! Informers that share their list-watch: what each is told, and what is asked for.

use std::{collections::BTreeMap, future::pending, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use crate::{
    cache::{
        Change, ChangeHandler, ChangeKind, Informer, InformerPlan, InformerPool, InformerSettings, Selects,
        Share, TextObject, View, kind_of,
    },
    environment::Environment,
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
        let settings = InformerSettings::new("test", ResourceType::of::<ConfigMap>());
        let view = View::new(&settings, kind_of::<ConfigMap>(), &self.environment);
        let told = Arc::new(Told::default());
        let wider = selects.map(|selects| ("by in (a,b)".to_owned(), selects));
        let share = Some(Share { pool: self.pool.clone(), wider });
        let plan = InformerPlan {
            settings,
            bounds: None,
            share,
            view: Arc::new(view),
            client: self.client.clone(),
            environment: self.environment.clone(),
        };
        let informer = Informer::new(plan, Arc::clone(&told) as _, BTreeMap::new());
        let runner = informer.clone();
        let task = self.environment.spawn(async move { runner.run(pending()).await });
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
async fn who_comes_in_the_middle_of_a_list_is_told_all_of_it_at_its_end() {
    let mut scene = Scene::new();
    let one = scene.start();
    scene.server.next().await.page(10, &[item("a", 5)], "more");
    let second_page = scene.server.next().await;
    assert_eq!(one.take().await, ["+a@5"]);
    let late = scene.start();
    assert_eq!(late.take().await, [""; 0]);
    second_page.page(10, &[item("b", 6)], "");
    let _watch = scene.server.open_watch(10).await;
    assert_eq!(
        (one.take().await, late.take().await),
        (vec!["+b@6".to_owned()], vec!["+a@5".into(), "+b@6".into()])
    );
    assert!(late.informer.is_synced());
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
