//! Lists that come as the first events of a watch.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{cache::InitialList, observe::SourceHealth, resource::ResourceVersion};

use super::{
    recorder::key,
    scene::{Scene, item, undecodable},
};

fn scene() -> Scene {
    Scene::with(|config| config.initial_list = InitialList::Streaming)
}

#[tokio::test(start_paused = true)]
async fn objects_are_told_as_they_come_and_count_when_all_were_shown() {
    let mut scene = scene();
    let watch = scene.server.open_stream().await;
    watch.event("ADDED", &item("b", 9));
    watch.event("ADDED", &item("a", 5));
    watch.bookmark(11);
    assert_eq!(scene.take().await, ["+b@9!", "+a@5!"], "each at once");
    // What happens meanwhile is shown before the end.
    watch.event("MODIFIED", &item("a", 11));
    watch.event("DELETED", &item("b", 12));
    watch.event("ADDED", &undecodable("c", 10));
    assert_eq!(scene.take().await, ["a@5>11", "-b@12"]);
    assert!(!scene.informer.is_synced());
    assert_eq!(scene.informer.last_syncs(), [(None, None)], "the order says nothing about versions");
    assert_eq!(scene.informer.health(), SourceHealth::Syncing);

    watch.initial_end(12);
    scene.informer.synced().await;
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
    assert_eq!(scene.informer.last_syncs(), [(None, Some(ResourceVersion::new(12)))]);
    assert_eq!(scene.informer.undecodable().len(), 1);
    watch.event("ADDED", &item("d", 13));
    assert_eq!(scene.take().await, ["+d@13"], "the same watch goes on");
    sleep(Duration::from_secs(60)).await;
    drop(watch);
    let again = scene.server.next().await;
    assert!(
        !again.uri.contains("sendInitialEvents") && again.uri.ends_with("resourceVersion=13"),
        "{}",
        again.uri
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_is_asked_for_pages_at_once_and_for_good() {
    let refusals = [
        (
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for \
             watch unless the WatchList feature gate is enabled",
        ),
        (400, "resourceVersionMatch is forbidden for watch"),
        (400, "unknown field \"sendInitialEvents\" in ListOptions"),
    ];
    for (code, message) in refusals {
        let mut scene = scene();
        let before = Instant::now();
        scene.server.next().await.status(code, "Invalid", message);
        scene.server.answer_list(10, &[item("a", 5)]).await;
        assert!(before.elapsed() < Duration::from_millis(5), "{message}");
        let watch = scene.server.open_watch(10).await;
        watch.expired();
        scene.server.answer_list(20, &[]).await;
        assert_eq!(scene.take().await, ["+a@5!", "-a@5?"]);
        assert_eq!(*scene.told.health.lock(), [SourceHealth::Healthy], "nothing is wrong with this server");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_before_its_end_counts_for_nothing() {
    let mut scene = scene();
    let watch = scene.server.open_stream().await;
    watch.event("ADDED", &item("a", 5));
    watch.raw("{\"type\":\"ADDED\",\"obj");
    drop(watch);
    assert_eq!(scene.take().await, ["+a@5!"]);
    assert!(!scene.informer.is_synced());
    assert_eq!(scene.advice().0, "the streamed list was cut before its end");
    // Pages next: they make progress where a stream starts all over.
    scene.server.answer_list(10, &[item("a", 5), item("b", 6)]).await;
    scene.informer.synced().await;
    assert_eq!(scene.take().await, ["+b@6!"]);

    // After a gap, the next list is streamed again, and deletes nothing before its end.
    scene.server.open_watch(10).await.expired();
    let watch = scene.server.open_stream().await;
    watch.event("ADDED", &item("b", 19));
    assert_eq!(scene.take().await, ["b@6>19"]);
    watch.event(
        "ERROR",
        &json!({"kind": "Status", "code": 500, "reason": "InternalError", "message": "etcd"}),
    );
    assert_eq!(scene.take().await, [""; 0]);
    assert!(scene.informer.contains(&key("a")), "a was not shown yet");
    assert_eq!(scene.informer.health(), SourceHealth::Healthy, "short trouble");
    scene.server.answer_list(20, &[item("b", 19)]).await;
    assert_eq!(scene.take().await, ["-a@5?"]);

    scene.server.open_watch(20).await.expired();
    let watch = scene.server.open_stream().await;
    watch.initial_end(30);
    assert_eq!(scene.take().await, ["-b@19?"], "an end without objects: there are none");
}

#[tokio::test(start_paused = true)]
async fn other_trouble_with_a_stream_leads_to_pages_as_well() {
    for code in [400, 410, 429, 500, 503] {
        let mut scene = scene();
        scene.server.next().await.status(code, "Reason", "some trouble");
        scene.server.answer_list(10, &[]).await;
        scene.informer.synced().await;
    }
    // A stream that never says that it has come to its end: a server that doesn't know what it was asked.
    let mut scene = scene();
    let watch = scene.server.open_stream().await;
    watch.event("ADDED", &item("a", 5));
    let before = Instant::now();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    assert!(before.elapsed() < Duration::from_secs(120), "{:?}", before.elapsed());
    scene.informer.synced().await;
    assert_eq!(scene.take().await, ["+a@5!"]);
    drop(watch);
}
