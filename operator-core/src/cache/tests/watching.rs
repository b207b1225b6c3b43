//! The list-watch loop against a scripted server, in paused time.

use std::{cell::Cell, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{cache::informer::Sizes, observe::SourceHealth, resource::ResourceType};

use super::{
    recorder::{key, object, version},
    scene::{Scene, item, undecodable},
};

#[tokio::test(start_paused = true)]
async fn lists_then_watches_and_is_told_of_everything() {
    let mut scene = Scene::start();
    assert_eq!(scene.informer.health(), SourceHealth::Syncing);
    let request = scene.server.next().await;
    assert_eq!(request.uri, "/api/v1/configmaps?&limit=500");
    assert!(!scene.informer.is_synced());
    request.page(10, &[item("a", 5), item("b", 9)], "");
    scene.informer.synced().await;
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);

    let request = scene.server.next().await;
    assert!(request.uri.contains("allowWatchBookmarks=true"), "{}", request.uri);
    assert_eq!(request.headers["accept-encoding"], "identity");
    let watch = request.open();
    watch.event("ADDED", &item("c", 11));
    watch.event("MODIFIED", &item("a", 12));
    watch.event("DELETED", &item("b", 13));
    assert_eq!(scene.take().await, ["+a@5!", "+b@9!", "+c@11", "a@5>12", "-b@13"]);
    let names: Vec<_> = scene.informer.keys().iter().map(|key| key.name().to_owned()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(scene.informer.get(&key("a")).map(|object| version(&object)), Some(12));
    assert_eq!(scene.informer.get(&key("b")), None);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_appears_is_told_of_with_the_key_that_is_kept() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    watch.event("ADDED", &item("b", 11));
    scene.settle().await;
    let (told, kept) = (scene.told.take_changes(), scene.informer.keys());
    let told: Vec<_> = told.iter().map(|change| change.key.name().as_ptr()).collect();
    let kept: Vec<_> = kept.iter().map(|key| key.name().as_ptr()).collect();
    assert_eq!(told, kept, "the strings are the same ones");
}

#[tokio::test(start_paused = true)]
async fn stops_when_it_is_told_to() {
    let mut scene = Scene::start();
    scene.server.answer_list(1, &[]).await;
    let _watch = scene.server.open_watch(1).await;
    drop(scene.stop.take());
    scene.running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_is_resumed_where_it_was() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[]).await;
    let watch = scene.server.open_watch(10).await;
    watch.event("ADDED", &item("a", 11));
    watch.event("BOOKMARK", &json!({"kind": "ConfigMap", "metadata": {"resourceVersion": "20"}}));
    // Half a line: the next watch shows it again.
    watch.raw("{\"type\":\"ADDED\",\"obj");
    sleep(Duration::from_secs(60)).await;
    let before = Instant::now();
    drop(watch);
    let watch = scene.server.open_watch(20).await;
    assert!(before.elapsed() < Duration::from_millis(5), "a good watch is continued at once");
    watch.event("ADDED", &item("b", 21));
    assert_eq!(scene.take().await, ["+a@11", "+b@21"]);
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);

    // One that ends at once again and again is not opened in a hot loop.
    drop(watch);
    let before = Instant::now();
    drop(scene.server.open_watch(21).await);
    drop(scene.server.open_watch(21).await);
    assert!(before.elapsed() > Duration::from_secs(2), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_given_up_within_two_minutes() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[]).await;
    let watch = scene.server.open_watch(10).await;
    let before = Instant::now();
    let again = scene.server.open_watch(10).await;
    assert!(before.elapsed() > Duration::from_secs(90) && before.elapsed() < Duration::from_secs(120));
    again.event("ADDED", &item("a", 11));
    assert_eq!(scene.take().await, ["+a@11"]);
    drop(watch);
}

#[tokio::test(start_paused = true)]
async fn an_expired_version_leads_to_a_new_list_and_what_vanished_is_deleted() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[item("a", 5), item("b", 6), item("c", 7)]).await;
    let watch = scene.server.open_watch(10).await;
    scene.take().await;
    watch.event("ERROR", &json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}));
    // b is gone, c was replaced, d is new.
    let mut replaced = item("c", 18);
    replaced["metadata"]["uid"] = json!("another");
    scene.server.answer_list(20, &[item("a", 5), replaced, item("d", 19)]).await;
    assert_eq!(scene.take().await, ["-c@7?", "+c@18", "+d@19", "-b@6?"]);

    // The same as the answer to the request.
    scene.server.next().await.status(410, "Expired", "too old");
    sleep(Duration::from_secs(5)).await;
    scene.server.answer_list(30, &[item("a", 29)]).await;
    assert_eq!(scene.take().await, ["a@5>29", "-c@18?", "-d@19?"]);
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
    let healths = scene.told.health.lock().clone();
    assert_eq!(healths, [SourceHealth::Healthy], "an expired version is nothing to worry about");
}

#[tokio::test(start_paused = true)]
async fn a_missing_type_is_reported_with_advice_and_noticed_soon_after_it_came() {
    let mut scene = Scene::with(|config| {
        let dynamic = kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(
            "sample.example.com",
            "v1",
            "Webpage",
        ));
        config.resource_type = ResourceType::with::<kube::core::DynamicObject>(&dynamic);
    });
    scene.server.next().await.body(404, "404 page not found\n".to_owned());
    scene.settle().await;
    let (reason, advice) = scene.advice();
    assert_eq!(reason, "404 page not found");
    assert!(advice.contains("`webpages.sample.example.com`"), "{advice}");
    assert!(advice.contains("crd | kubectl apply -f -"), "{advice}");
    for _ in 0..10 {
        let before = Instant::now();
        scene.server.next().await.body(404, "404 page not found\n".to_owned());
        assert!(before.elapsed() <= Duration::from_secs(3), "{:?}", before.elapsed());
    }
    scene.server.answer_list(10, &[item("a", 5)]).await;
    scene.informer.synced().await;
    assert_eq!(scene.take().await, ["+a@5!"]);
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_type_is_reported_with_advice_and_recovers() {
    let mut scene = Scene::start();
    let message =
        "configmaps is forbidden: User \"system:serviceaccount:ops:me\" cannot list resource \"configmaps\"";
    scene.server.next().await.status(403, "Forbidden", message);
    scene.settle().await;
    let (reason, advice) = scene.advice();
    assert_eq!(reason, message);
    assert_eq!(
        advice,
        "grant list and watch on configmaps in all namespaces to system:serviceaccount:ops:me"
    );
    scene.server.answer_list(10, &[]).await;
    scene.informer.synced().await;
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
    // A right to watch that is taken away later.
    scene.server.next().await.status(403, "Forbidden", "no watching");
    scene.settle().await;
    assert_eq!(scene.advice().0, "no watching");
    let _watch = scene.server.open_watch(10).await;
    scene.settle().await;
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
}

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages_and_counts_only_when_it_is_complete() {
    let mut scene = Scene::start();
    scene.server.next().await.page(10, &[item("a", 5)], "next page");
    let request = scene.server.next().await;
    assert!(
        request.uri.contains("limit=500") && request.uri.contains("continue=next+page"),
        "{}",
        request.uri
    );
    // The body is cut in the middle.
    let body = request.open();
    body.raw("{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[{\"metadata\":");
    drop(body);
    let request = scene.server.next().await;
    assert!(request.uri.contains("continue=next+page"), "the same page again: {}", request.uri);
    assert!(!scene.informer.is_synced());
    assert_eq!(scene.take().await, ["+a@5!"], "nothing is deleted");
    // The token expires: from the start again, in one piece, as this list may never end in pages.
    request.status(410, "Expired", "the continue token is too old");
    let request = scene.server.next().await;
    assert!(!request.uri.contains("continue") && !request.uri.contains("limit"), "{}", request.uri);
    assert!(!scene.informer.is_synced());
    request.page(12, &[item("b", 11)], "");
    scene.informer.synced().await;
    assert_eq!(scene.take().await, ["+b@11!", "-a@5?"]);
    let _watch = scene.server.open_watch(12).await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_decoded_is_reported_and_the_rest_goes_on() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[undecodable("a", 5), item("b", 6)]).await;
    scene.informer.synced().await;
    let watch = scene.server.open_watch(10).await;
    watch.event("MODIFIED", &undecodable("b", 11));
    watch.event("ADDED", &item("c", 12));
    assert_eq!(scene.take().await, ["+b@6!", "+c@12"]);
    assert_eq!(*scene.told.undecodable.lock(), [Some(key("a")), Some(key("b"))]);
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
    assert_eq!(scene.informer.get(&key("b")).map(|object| version(&object)), Some(6), "the older one stays");
    assert_eq!(scene.informer.undecodable().len(), 2);

    // It is neither reported twice nor taken for deleted by a new list.
    watch.event("ERROR", &json!({"kind": "Status", "code": 410, "reason": "Expired"}));
    scene.server.answer_list(20, &[undecodable("a", 5), undecodable("b", 11), item("c", 12)]).await;
    let watch = scene.server.open_watch(20).await;
    assert_eq!(scene.take().await, Vec::<String>::new());
    assert_eq!(scene.told.undecodable.lock().len(), 2);

    watch.event("MODIFIED", &item("a", 21));
    watch.event("DELETED", &undecodable("b", 22));
    assert_eq!(scene.take().await, ["+a@21", "-b@6?"]);
    assert_eq!(scene.informer.sizes(), Sizes { store: 2, full: 2, ..Sizes::default() });
}

#[tokio::test(start_paused = true)]
async fn one_watch_for_each_namespace() {
    let mut scene = Scene::with(|config| {
        let names = ["bank", "shop"].map(str::to_owned);
        config.scope = crate::cache::WatchScope::Namespaces(names.into());
        config.label_selector = Some("app=web".to_owned());
    });
    let bank = scene.server.next().await;
    let shop = scene.server.next().await;
    assert_eq!(bank.uri, "/api/v1/namespaces/bank/configmaps?&labelSelector=app%3Dweb&limit=500");
    bank.page(10, &[], "");
    scene.settle().await;
    assert!(!scene.informer.is_synced());
    shop.page(10, &[item("a", 5)], "");
    scene.informer.synced().await;
    assert_eq!(scene.informer.cache.list_in("shop").len(), 1);
    assert_eq!(scene.informer.cache.list_in("bank").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn own_writes_are_read_at_once_and_their_echo_is_not_told() {
    let mut scene = Scene::with(|config| {
        *config = config.clone().with_indexer("uid", |object| object.metadata.uid.iter().cloned().collect());
    });
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    scene.take().await;
    let mut write = scene.informer.begin_write(&key("a"));
    assert_eq!(write.base().map(|base| version(&base)), Some(5));
    write.wrote(object("a", "uid-a", 11));
    drop(write);
    let mut write = scene.informer.begin_write(&key("new"));
    assert!(write.base().is_none());
    write.wrote(object("new", "uid-new", 12));
    drop(write);
    assert_eq!(scene.informer.get(&key("a")).map(|object| version(&object)), Some(11));
    assert_eq!(scene.informer.by_index("uid", "uid-new").len(), 1);
    assert_eq!(scene.informer.list().iter().map(|object| version(object)).collect::<Vec<_>>(), [11, 12]);
    assert_eq!(
        scene.informer.sizes(),
        Sizes { store: 1, full: 1, overlay: 2, windows: 2, awaited: 2, index_values: 3, undecodable: 0 }
    );
    watch.event("MODIFIED", &item("a", 11));
    watch.event("ADDED", &item("new", 12));
    watch.event("MODIFIED", &item("a", 13));
    assert_eq!(scene.take().await, ["a@11>13"]);
    assert_eq!(scene.informer.sizes(), Sizes { store: 2, full: 2, index_values: 2, ..Sizes::default() });
}

/// How many own writes there are that the watch hasn't shown yet is nothing to a reader of an index.
#[tokio::test(start_paused = true)]
async fn an_index_is_not_asked_about_own_writes_of_other_values() {
    let mut scene = Scene::with(|config| {
        *config = config.clone().with_indexer("uid", |object| object.metadata.uid.iter().cloned().collect());
    });
    scene.server.answer_list(10, &[]).await;
    let _watch = scene.server.open_watch(10).await;
    for number in 0..50 {
        let name = format!("a{number}");
        let mut write = scene.informer.begin_write(&key(&name));
        write.wrote(object(&name, &format!("uid-{number}"), 11 + number));
    }
    // Another state of one of them, under another value.
    scene.informer.begin_write(&key("a7")).wrote(object("a7", "uid-another", 100));
    let looked_at = Cell::new(0);
    let found = |value: &str| {
        let look = |_: &_, _: &_| {
            looked_at.set(looked_at.get() + 1);
            true
        };
        scene.informer.lazy_by_index("uid", value, &look).len()
    };
    assert_eq!([found("uid-8"), found("uid-another"), found("uid-7")], [1, 1, 0]);
    assert_eq!(looked_at.get(), 2, "one look each at what is found");
    assert_eq!(scene.informer.sizes().index_values, 50);
}

#[tokio::test(start_paused = true)]
async fn says_whether_it_has_caught_up() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    scene.settle().await;
    // What the server holds, and whether the informer has seen it.
    let cases = [
        (10, vec![item("a", 5)], true),
        (15, vec![item("a", 5)], true),
        (15, vec![item("a", 11)], false),
        (15, vec![item("a", 5), item("b", 12)], false),
        (15, vec![], false),
    ];
    for (list_version, items, expected) in cases {
        let (informer, server) = (&scene.informer, &mut scene.server);
        let (caught_up, ()) = futures::join!(informer.caught_up(), async {
            let request = server.next().await;
            let accept = request.headers["accept"].to_str().unwrap();
            assert!(accept.contains("as=PartialObjectMetadataList"), "{accept}");
            request.page(list_version, &items, "");
        });
        assert_eq!(caught_up.unwrap(), expected, "{list_version} {items:?}");
    }
    // A foreign change that waits for the end of a write has been seen, but not handed over.
    let write = scene.informer.begin_write(&key("a"));
    watch.event("MODIFIED", &item("a", 16));
    scene.settle().await;
    let (informer, server) = (&scene.informer, &mut scene.server);
    let (caught_up, ()) =
        futures::join!(informer.caught_up(), async { server.next().await.page(16, &[item("a", 16)], "") });
    assert!(!caught_up.unwrap());
    drop(write);
    let (caught_up, ()) =
        futures::join!(informer.caught_up(), async { server.next().await.page(16, &[item("a", 16)], "") });
    assert!(caught_up.unwrap());
    // An object that was written and is gone again, neither of which the watch has shown, is still found by readers.
    scene.informer.remember(serde_json::from_value(item("b", 17)).unwrap());
    for (list_version, items, expected) in [
        (18, vec![item("a", 16)], false),
        (17, vec![item("a", 16), item("b", 17)], false),
        (16, vec![item("a", 16)], true),
    ] {
        let (informer, server) = (&scene.informer, &mut scene.server);
        let (caught_up, ()) = futures::join!(informer.caught_up(), async {
            server.next().await.page(list_version, &items, "")
        });
        assert_eq!(caught_up.unwrap(), expected, "{list_version} {items:?}");
    }
    let (informer, server) = (&scene.informer, &mut scene.server);
    let (refused, ()) =
        futures::join!(informer.caught_up(), async { server.next().await.status(403, "Forbidden", "no") });
    assert_eq!(refused.unwrap_err().to_string(), "cannot list /api/v1/configmaps: no");
}
