//! An informer that holds only some objects in full.

use std::sync::Arc;

use futures::join;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use crate::cache::{ChangeKind, Error, TextObject, informer::Sizes};

use super::{
    recorder::{key, short, version},
    scene::{Scene, item},
    server::{OpenWatch, Server},
};

/// With labels and content, which show whether an object is whole.
fn whole(name: &str, version: u64) -> Value {
    let mut item = item(name, version);
    item["metadata"]["labels"] = json!({ "app": "web" });
    item["metadata"]["annotations"] = json!({ "long": "story" });
    item["data"] = json!({ "version": version.to_string() });
    item
}

/// Three objects and room for one: `c`.
async fn scene() -> (Scene, OpenWatch) {
    let mut scene = Scene::bounded(1);
    scene.server.answer_list(10, &[whole("a", 5), whole("b", 6), whole("c", 7)]).await;
    let watch = scene.server.open_watch(10).await;
    assert_eq!(scene.take().await, ["+a@5!", "+b@6!", "+c@7!"]);
    (scene, watch)
}

/// Reads an object while the server does this.
async fn fetch(
    scene: &mut Scene,
    name: &str,
    serve: impl AsyncFnOnce(&mut Server),
) -> Result<Option<Arc<ConfigMap>>, Error> {
    let (informer, server) = (&scene.informer, &mut scene.server);
    let key = key(name);
    let (read, ()) = join!(informer.fetch(&key), serve(server));
    read
}

fn read(read: Result<Option<Arc<ConfigMap>>, Error>) -> Option<u64> {
    let object = read.unwrap()?;
    assert!(object.data.is_some(), "a minimal object was given for a whole one");
    Some(version(&object))
}

async fn nobody_asks(_: &mut Server) {}

#[tokio::test(start_paused = true)]
async fn what_is_not_held_is_read_from_the_server_once() {
    let (mut scene, _watch) = scene().await;
    assert_eq!(scene.informer.sizes(), Sizes { store: 3, full: 1, ..Sizes::default() });
    assert_eq!(scene.informer.get(&key("c")).map(|c| version(&c)), Some(7));
    assert!(scene.informer.get(&key("a")).is_none() && scene.informer.contains(&key("a")));
    assert!(!scene.informer.contains(&key("x")));

    let a = fetch(&mut scene, "a", async |server| {
        let request = server.next().await;
        assert_eq!(request.uri, "/api/v1/namespaces/shop/configmaps/a");
        request.object(&whole("a", 5));
    });
    assert_eq!(read(a.await), Some(5));
    assert_eq!(read(fetch(&mut scene, "a", nobody_asks).await), Some(5));
    assert_eq!(read(fetch(&mut scene, "x", nobody_asks).await), None, "what is unknown is not asked for");
    assert_eq!(scene.informer.sizes().full, 1, "c had to make room");

    let names: Vec<_> = scene.informer.keys().iter().map(|key| key.name().to_owned()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    for minimal in scene.informer.list() {
        let meta = &minimal.metadata;
        assert!(meta.uid.is_some() && meta.resource_version.is_some() && meta.labels.is_some());
        assert_eq!((&minimal.data, &meta.annotations), (&None, &None));
    }
    assert_eq!(scene.take().await, [""; 0], "reading is no change");
}

#[tokio::test(start_paused = true)]
async fn what_the_watch_has_shown_meanwhile_counts() {
    let (mut scene, watch) = scene().await;
    let told = Arc::clone(&scene.told);
    let shown = async |event: (&str, Value)| {
        watch.event(event.0, &event.1);
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    };
    let a = fetch(&mut scene, "a", async |server| {
        let request = server.next().await;
        shown(("MODIFIED", whole("a", 11))).await;
        request.object(&whole("a", 5));
    });
    assert_eq!(read(a.await), Some(11), "an old answer is dropped, and the new state is held already");
    assert_eq!(told.take(), ["a@5>11"]);

    // An answer that is ahead of the watch hides nothing from the handler.
    let b = fetch(&mut scene, "b", async |server| server.next().await.object(&whole("b", 13)));
    assert_eq!(read(b.await), Some(13));
    assert_eq!(scene.informer.get(&key("b")).map(|b| version(&b)), Some(13));
    shown(("MODIFIED", whole("b", 12))).await;
    assert_eq!(
        read(fetch(&mut scene, "b", async |server| server.next().await.object(&whole("b", 13))).await),
        Some(13)
    );
    shown(("MODIFIED", whole("b", 13))).await;
    assert_eq!(told.take(), ["b@6>12", "b@12>13"]);

    // Deleted meanwhile: not brought back.
    let c = fetch(&mut scene, "c", async |server| {
        let request = server.next().await;
        shown(("DELETED", whole("c", 14))).await;
        request.object(&whole("c", 7));
    });
    assert_eq!(read(c.await), None);
    assert_eq!(told.take(), ["-c@14"]);

    // A server whose answers stay behind what its watch has shown is not asked forever.
    shown(("ADDED", whole("d", 15))).await;
    let a = fetch(&mut scene, "a", async |server| {
        for _ in 0..3 {
            server.next().await.object(&whole("a", 5));
        }
    });
    assert!(matches!(a.await, Err(Error::Get { status: None, .. })));
}

#[tokio::test(start_paused = true)]
async fn what_the_server_does_not_have_is_forgotten_and_told_once() {
    let (mut scene, watch) = scene().await;
    let missing = async |server: &mut Server| server.next().await.no_object("a");
    assert_eq!(read(fetch(&mut scene, "a", missing).await), None);
    assert_eq!(read(fetch(&mut scene, "a", nobody_asks).await), None);
    assert!(!scene.informer.contains(&key("a")));
    assert_eq!((scene.informer.keys().len(), scene.informer.list().len()), (2, 2));
    assert_eq!(scene.take().await, [""; 0], "that is for the watch to say");
    let missing = async |server: &mut Server| server.next().await.no_object("b");
    assert_eq!(read(fetch(&mut scene, "b", missing).await), None);
    watch.event("DELETED", &whole("a", 11));
    assert_eq!(scene.take().await, ["-a@11"]);
    watch.expired();
    scene.server.answer_list(20, &[whole("c", 7)]).await;
    assert_eq!(scene.take().await, ["-b@6?"], "a list says it as well");
    assert_eq!(scene.informer.sizes(), Sizes { store: 1, full: 1, ..Sizes::default() });

    // A 404 that names no object is none: the server doesn't know the type yet.
    let watch = scene.server.open_watch(20).await;
    watch.event("ADDED", &whole("d", 21));
    scene.take().await;
    let starting = async |server: &mut Server| server.next().await.status(404, "NotFound", "not served");
    let refused = fetch(&mut scene, "c", starting).await.unwrap_err();
    assert_eq!(refused.to_string(), "cannot read /api/v1/namespaces/shop/configmaps/c: not served");
    assert_eq!(refused.status(), Some(404));
    assert!(scene.informer.contains(&key("c")));
    // Created again before the answer came.
    let recreated = async |server: &mut Server| {
        let request = server.next().await;
        watch.event("MODIFIED", &whole("c", 22));
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        request.no_object("c");
    };
    assert_eq!(read(fetch(&mut scene, "c", recreated).await), Some(22));
}

#[tokio::test(start_paused = true)]
async fn changes_and_deletions_of_what_is_not_held_are_told_with_minimal_objects() {
    let (mut scene, watch) = scene().await;
    watch.expired();
    scene.server.answer_list(20, &[whole("a", 11), whole("c", 7)]).await;
    scene.settle().await;
    let changes = scene.told.take_changes();
    assert_eq!(changes.iter().map(short).collect::<Vec<_>>(), ["a@5>11", "-b@6?"]);
    let ChangeKind::Updated { old, new } = &changes[0].kind else { panic!("{changes:?}") };
    let read = |kept: &TextObject| serde_json::from_str::<ConfigMap>(kept.text()).unwrap();
    assert_eq!((read(old).data, old.labels()), (None, new.labels()));
    assert!(read(new).data.is_some());
    assert_eq!(changes[1].kind.object().uid(), Some("uid-b"));
    let (informer, server) = (&scene.informer, &mut scene.server);
    let _watch = server.open_watch(20).await;
    for (items, expected) in
        [([whole("a", 11), whole("c", 7)], true), ([whole("a", 11), whole("c", 22)], false)]
    {
        let (caught_up, ()) = join!(informer.caught_up(), async { server.next().await.page(25, &items, "") });
        assert_eq!(caught_up.unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_own_write_needs_no_more_than_the_minimal_object() {
    let (mut scene, watch) = scene().await;
    let mut write = scene.informer.begin_write(&key("a"));
    let base = write.base().unwrap();
    assert_eq!((version(&base), base.metadata.uid.as_deref()), (5, Some("uid-a")));
    write.wrote(serde_json::from_value(whole("a", 11)).unwrap());
    assert_eq!(write.rebase().map(|base| version(&base)), Some(11));
    drop(write);
    assert_eq!(scene.informer.get(&key("a")).map(|a| version(&a)), Some(11));
    let listed = scene.informer.list();
    assert_eq!((version(&listed[0]), &listed[0].data), (11, &None), "minimal like all others");
    watch.event("MODIFIED", &whole("a", 11));
    assert_eq!(scene.take().await, [""; 0], "its echo");
    assert!(scene.informer.begin_write(&key("x")).base().is_none());

    // An answer to an own write that comes while the object is being read is the newer one.
    let (informer, server) = (scene.informer.clone(), &mut scene.server);
    let asked = key("b");
    let (fetched, ()) = join!(informer.fetch(&asked), async {
        let request = server.next().await;
        informer.begin_write(&asked).wrote(serde_json::from_value(whole("b", 12)).unwrap());
        request.object(&whole("b", 6));
    });
    assert_eq!(read(fetched), Some(12));
}
