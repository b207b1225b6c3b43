//! Failures: how long the waits are, to the millisecond, and when they are told.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{environment::Jitter, observe::SourceHealth, resource::ResourceVersion};

use super::{
    recorder::{key, object},
    scene::{SEED, Scene, item},
};

/// Waits are given to the next millisecond by the paused clock.
fn assert_waited(before: Instant, expected: Duration) {
    let waited = before.elapsed();
    assert!(
        waited >= expected && waited <= expected + Duration::from_millis(2),
        "{waited:?}, not {expected:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn waits_double_after_each_failure_and_are_as_long_as_the_server_asks() {
    let mut scene = Scene::start();
    // The scene's own chance, repeated.
    let jitter = Jitter::seeded(SEED);
    let mut before = Instant::now();
    scene.server.next().await.status(500, "InternalError", "etcd is away");
    for base in [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000] {
        let request = scene.server.next().await;
        assert_waited(before, jitter.spread(Duration::from_millis(base), 0.5));
        before = Instant::now();
        match base {
            1_600 => request.status(503, "ServiceUnavailable", "overloaded"),
            3_200 => request.body(502, "bad gateway".to_owned()),
            _ => drop(request), // the connection is refused
        }
    }
    scene.server.answer_list(10, &[]).await;
    before = Instant::now();
    // The header of 429, and the first wait again after a success.
    scene.server.next().await.retry_after(429, 17);
    for _ in ["the wait before the list", "the watch's timeout"] {
        let _ = jitter.spread(Duration::ZERO, 0.5);
    }
    let request = scene.server.next().await;
    assert_waited(before, jitter.spread(Duration::from_secs(17), 0.5));
    drop(request);
}

#[tokio::test(start_paused = true)]
async fn retry_after_may_stand_in_the_body_too() {
    let mut scene = Scene::start();
    let status = json!({
        "kind": "Status", "code": 429, "reason": "TooManyRequests", "message": "storage is (re)initializing",
        "details": { "retryAfterSeconds": 3 },
    });
    scene.server.next().await.body(429, status.to_string());
    let before = Instant::now();
    scene.server.answer_list(10, &[]).await;
    assert_waited(before, Jitter::seeded(SEED).spread(Duration::from_secs(3), 0.5));
}

#[tokio::test(start_paused = true)]
async fn bookmarks_alone_keep_the_version_fresh() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[item("a", 5)]).await;
    let watch = scene.server.open_watch(10).await;
    for version in [20, 30, 40] {
        sleep(Duration::from_secs(20)).await;
        watch.bookmark(version);
        scene.settle().await;
        assert_eq!(scene.informer.last_syncs(), [(None, Some(ResourceVersion::new(version)))]);
    }
    drop(watch);
    let watch = scene.server.open_watch(40).await;
    watch.event("MODIFIED", &item("a", 41));
    assert_eq!(scene.take().await, ["+a@5!", "a@5>41"]);
}

#[tokio::test(start_paused = true)]
async fn short_trouble_of_an_open_watch_is_not_told() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[]).await;
    let watch = scene.server.open_watch(10).await;
    sleep(Duration::from_secs(60)).await;
    drop(watch);
    // A server that restarts: it refuses connections, then knows no types, then no rights.
    drop(scene.server.next().await);
    scene.server.next().await.status(503, "ServiceUnavailable", "starting");
    scene.server.next().await.status(403, "Forbidden", "not yet");
    let watch = scene.server.open_watch(10).await;
    watch.bookmark(11);
    scene.settle().await;
    assert_eq!(*scene.told.health.lock(), [SourceHealth::Healthy]);

    // One that stays away is told about 15 s later.
    sleep(Duration::from_secs(60)).await;
    let before = Instant::now();
    drop(watch);
    while scene.informer.health() == SourceHealth::Healthy {
        drop(scene.server.next().await);
        scene.settle().await;
    }
    assert!(
        before.elapsed() > Duration::from_secs(5) && before.elapsed() < Duration::from_secs(20),
        "{:?}",
        before.elapsed()
    );
    assert!(scene.advice().0.contains("connection refused"));
    let _watch = scene.server.open_watch(11).await;
    scene.settle().await;
    assert_eq!(scene.informer.health(), SourceHealth::Healthy);
}

#[tokio::test(start_paused = true)]
async fn a_long_wait_that_the_server_asks_for_is_told_at_once() {
    let mut scene = Scene::start();
    scene.server.answer_list(10, &[]).await;
    let watch = scene.server.open_watch(10).await;
    sleep(Duration::from_secs(60)).await;
    drop(watch);
    scene.server.next().await.retry_after(429, 60);
    scene.settle().await;
    assert_eq!(scene.advice().0, "slow down");
}

#[tokio::test(start_paused = true)]
async fn what_own_writes_leave_behind_has_a_bound_however_long_the_watch_is_broken() {
    const OBJECTS: usize = 100;
    const DAY: u64 = 24 * 60 * 60;
    let mut scene = Scene::start();
    let items: Vec<_> = (0..OBJECTS).map(|number| item(&format!("map-{number}"), 5)).collect();
    scene.server.answer_list(10, &items).await;
    let watch = scene.server.open_watch(10).await;
    scene.take().await;
    drop(watch);
    // A right that was taken away, or a proxy that lets no watch through; writes go on.
    let mut server = scene.server;
    let broken = tokio::spawn(async move {
        loop {
            server.next().await.status(403, "Forbidden", "no watching");
        }
    });
    let mut version = 10;
    for second in 0..DAY {
        let name = format!("map-{}", second as usize % OBJECTS);
        let mut write = scene.informer.begin_write(&key(&name));
        version += 1;
        write.wrote(object(&name, &format!("uid-{name}"), version));
        drop(write);
        sleep(Duration::from_secs(1)).await;
    }
    assert!(matches!(scene.informer.health(), SourceHealth::Unhealthy { .. }));
    let sizes = scene.informer.sizes();
    assert_eq!((sizes.store, sizes.overlay), (OBJECTS, OBJECTS), "of each object the newest state is known");
    assert!(sizes.awaited <= 10_000 + OBJECTS, "{} versions are awaited after a day", sizes.awaited);
    assert_eq!(scene.told.take(), [""; 0], "own writes are told to nobody");
    broken.abort();
}
