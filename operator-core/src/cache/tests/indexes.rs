//! Finding objects by the user's indexes.

use std::{
    future,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    cache::{Change, ChangeHandler},
    environment::Environment,
};

use super::{
    recorder::{key, object, version},
    scene::{Scene, item},
    server::scripted,
    typed::{TestConfig, TestInformer},
};

/// Looks up the object whenever it is told of it, as a reader may at any moment.
#[derive(Default)]
struct Reading {
    informer: OnceLock<TestInformer<ConfigMap>>,
    found: Mutex<Vec<(Option<u64>, Vec<u64>)>>,
}

impl ChangeHandler for Reading {
    fn on_change(&self, change: Change) {
        let informer = self.informer.get().unwrap();
        let by_key = informer.get(&change.key).map(|object| version(&object));
        let by_index = informer.by_index("name", change.key.name());
        self.found.lock().push((by_key, by_index.iter().map(|object| version(object)).collect()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_finds_the_predecessor_or_the_successor_by_key_and_by_index() {
    let (client, mut server) = scripted();
    let config = TestConfig::<ConfigMap>::new()
        .with_indexer("name", |object: &ConfigMap| vec![object.name_any()])
        .with_indexer("uid", |object: &ConfigMap| object.uid().into_iter().collect());
    let reading = Arc::new(Reading::default());
    let informer = config.informer(None, client, &Environment::real(), Arc::clone(&reading) as _);
    reading.informer.set(informer.clone()).unwrap();
    let follows = informer.clone();
    tokio::spawn(async move { follows.run(future::pending()).await });
    server.answer_list(10, &[item("a", 5)]).await;
    let watch = server.open_watch(10).await;
    let mut successor = item("a", 12);
    successor["metadata"]["uid"] = json!("another");
    watch.event("ADDED", &successor);
    sleep(Duration::from_millis(1)).await;
    // That the first one is gone is told before the second one is known.
    let found = [(Some(5), vec![5]), (Some(5), vec![5]), (Some(12), vec![12])];
    assert_eq!(*reading.found.lock(), found);
    assert_eq!(informer.sizes().index_values, 2, "nothing is found as the first one was");
    successor["metadata"]["resourceVersion"] = json!("14");
    watch.event("DELETED", &successor);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(reading.found.lock().last(), Some(&(None, Vec::new())));
    assert_eq!(informer.sizes().index_values, 0);
}

/// Neither looking something up nor taking in the next state asks the user's function, which would need the object decoded.
#[tokio::test(start_paused = true)]
async fn an_index_is_asked_once_for_each_state() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let mut scene = Scene::with(|config| {
        let indexer = move |object: &ConfigMap| {
            counts.fetch_add(1, Ordering::Relaxed);
            vec![object.name_any()]
        };
        *config = config.clone().with_indexer("name", indexer);
    });
    scene.server.answer_list(10, &[item("a", 5), item("b", 6)]).await;
    let watch = scene.server.open_watch(10).await;
    scene.settle().await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    for _ in 0..3 {
        assert_eq!(scene.informer.by_index("name", "a").len(), 1);
    }
    watch.event("MODIFIED", &item("a", 12));
    scene.settle().await;
    assert_eq!(scene.informer.by_index("name", "a").len(), 1);
    assert_eq!(asked.load(Ordering::Relaxed), 3, "once more, of the new state");
    // An own write is found by what its answer says, and its echo has nothing to add.
    let mut write = scene.informer.begin_write(&key("a"));
    write.wrote(object("a", "uid-a", 13));
    drop(write);
    assert_eq!(scene.informer.by_index("name", "a").len(), 1);
    watch.event("MODIFIED", &item("a", 13));
    watch.event("DELETED", &item("a", 14));
    scene.settle().await;
    assert_eq!(scene.informer.by_index("name", "a").len(), 0);
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}
