//! What a watch says late, or again: the newest word counts.

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use crate::cache::WatchScope;

use super::{
    recorder::{key, object, version},
    scene::{Scene, item},
};

fn known(scene: &Scene, name: &str) -> Option<u64> {
    scene.informer.get(&key(name)).map(|object| version(&object))
}

/// Another object of that name.
fn successor(name: &str, version: u64) -> Value {
    let mut item = item(name, version);
    item["metadata"]["uid"] = json!("another");
    item
}

fn answer(version: u64) -> ConfigMap {
    object("a", "uid-a", version)
}

#[tokio::test(start_paused = true)]
async fn an_older_event_is_not_believed() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    watch.event("MODIFIED", &item("a", 12));
    assert_eq!(scene.take().await, ["+a@5!", "a@5>12"]);
    watch.event("MODIFIED", &item("a", 11));
    watch.event("ADDED", &item("a", 5));
    assert_eq!(scene.take().await, [""; 0], "it is known in version 12");
    assert_eq!(known(&scene, "a"), Some(12));
    // A watch that is resumed may repeat itself as well.
    drop(watch);
    let watch = scene.server.next().await.open();
    watch.event("MODIFIED", &item("a", 11));
    watch.event("MODIFIED", &item("a", 13));
    assert_eq!(scene.take().await, ["a@12>13"]);
}

#[tokio::test(start_paused = true)]
async fn the_late_deletion_of_a_predecessor_leaves_its_successor() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    watch.event("ADDED", &successor("a", 12));
    assert_eq!(scene.take().await, ["+a@5!", "-a@5?", "+a@12"]);
    watch.event("DELETED", &item("a", 11));
    assert_eq!(scene.take().await, [""; 0], "that one was gone before");
    assert_eq!(known(&scene, "a"), Some(12));
    watch.event("DELETED", &successor("a", 14));
    assert_eq!(scene.take().await, ["-a@14"]);
    assert_eq!(known(&scene, "a"), None);
}

/// The first list is still coming: nothing is known to have been passed but what its pages have shown.
#[tokio::test(start_paused = true)]
async fn a_late_answer_does_not_hide_what_a_page_of_the_list_has_shown() {
    let mut scene = Scene::start();
    let mut write = scene.informer.begin_write(&key("a"));
    scene.server.next().await.page(20, &[item("a", 12)], "more");
    scene.settle().await;
    write.wrote(answer(11));
    drop(write);
    assert_eq!(known(&scene, "a"), Some(12), "the page is newer than the answer");
}

/// The server's storage was restored from a backup: versions begin anew, and so does what own writes are held against.
#[tokio::test(start_paused = true)]
async fn own_writes_are_read_also_after_versions_have_gone_back() {
    let mut scene = Scene::start();
    scene.server.answer_list(100, &[item("a", 90)]).await;
    let watch = scene.server.open_watch(100).await;
    watch.expired();
    scene.server.answer_list(50, &[item("a", 40)]).await;
    let watch = scene.server.open_watch(50).await;
    assert_eq!(scene.take().await, ["+a@90!", "a@90>40"]);
    let mut write = scene.informer.begin_write(&key("a"));
    write.wrote(answer(51));
    drop(write);
    assert_eq!(known(&scene, "a"), Some(51), "what was written is read at once");
    watch.event("MODIFIED", &item("a", 51));
    assert_eq!(scene.take().await, [""; 0], "and its echo is told to nobody");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_works_does_not_hide_one_that_does_not() {
    let namespaces = ["bank", "shop"].map(str::to_owned).into();
    let mut scene = Scene::with(|config| config.scope = WatchScope::Namespaces(namespaces));
    let mut requests = [scene.server.next().await, scene.server.next().await];
    requests.sort_by(|one, other| one.uri.cmp(&other.uri));
    let [bank, shop] = requests;
    assert!(bank.uri.contains("/namespaces/bank/") && shop.uri.contains("/namespaces/shop/"));
    bank.status(403, "Forbidden", "not yours");
    scene.settle().await;
    shop.page(10, &[item("a", 5)], "");
    assert_eq!(scene.take().await, ["+a@5!"]);
    let (reason, _) = scene.advice();
    assert!(reason.contains("not yours"), "{reason}");
}
