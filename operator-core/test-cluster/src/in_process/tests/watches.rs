//! Watches, with time standing still.

use super::*;

async fn version(scene: &Scene) -> u64 {
    let (_, list) = scene.get(MAPS).await;
    list["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok()).expect("a version")
}

#[tokio::test(start_paused = true)]
async fn what_comes_to_match_a_selector_was_added_and_what_no_longer_does_was_deleted() {
    let scene = Scene::new();
    let v = version(&scene).await;
    let labels = |label: &str| json!({ "metadata": { "name": "a", "labels": { "l": label } } });
    scene.post(MAPS, labels("1")).await;
    for label in ["2", "1"] {
        scene.patch(&format!("{MAPS}/a"), MERGE, labels(label)).await;
    }
    scene.delete(&format!("{MAPS}/a"), Value::Null).await;
    let lines = scene
        .watch(&format!("{MAPS}?watch=true&resourceVersion={v}&labelSelector=l%3D1&timeoutSeconds=5"))
        .await;
    let expected = [("ADDED", 1), ("DELETED", 2), ("ADDED", 3), ("DELETED", 4)];
    assert_eq!(lines, expected.map(|(kind, after)| format!("{kind} a {}", v + after)));
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_ends_with_a_bookmark() {
    let scene = Scene::new();
    scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await;
    let v = version(&scene).await;
    let streamed = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let lines = scene.watch(&format!("{MAPS}?watch=true&{streamed}&timeoutSeconds=5")).await;
    assert_eq!(lines, [format!("ADDED a {v}"), format!("BOOKMARK - {v}")]);
    let refused = scene.get(&format!("{MAPS}?watch=true&sendInitialEvents=true")).await;
    assert_eq!(
        said(refused),
        "422 Invalid ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires \
         setting resourceVersionMatch to NotOlderThan"
    );
}

#[tokio::test(start_paused = true)]
async fn events_come_while_the_watch_is_open_and_bookmarks_now_and_then() {
    let scene = Scene::new();
    let v = version(&scene).await;
    let path = format!("{MAPS}?watch=true&resourceVersion={v}&allowWatchBookmarks=true&timeoutSeconds=100");
    let write = async {
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await;
        // Another kind's version is in the bookmark, too.
        scene.post("/api/v1/namespaces/default/secrets", json!({ "metadata": { "name": "s" } })).await;
    };
    let (lines, ()) = tokio::join!(scene.watch(&path), write);
    assert_eq!(lines, [format!("ADDED a {}", v + 1), format!("BOOKMARK - {}", v + 2)]);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_forgotten_is_an_error_in_the_stream() {
    let scene = Scene::new();
    let v = version(&scene).await;
    scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await;
    scene.server.compact();
    let lines = scene.watch(&format!("{MAPS}?watch=true&resourceVersion={v}")).await;
    assert_eq!(lines, ["ERROR 410 \"Expired\""]);
    let none = scene.watch(&format!("{MAPS}?watch=true&resourceVersion=99999&timeoutSeconds=5")).await;
    assert!(none.is_empty(), "a version of the future is silence: {none:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_kind() {
    let scene = Scene::with_pages().await;
    scene.post(PAGES, page("a", "1")).await;
    let end = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        scene.delete(&format!("{CRDS}/pages.ex.com"), Value::Null).await;
    };
    let started = tokio::time::Instant::now();
    let path = format!("{PAGES}?watch=true");
    let (lines, ()) = tokio::join!(scene.watch(&path), end);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].starts_with("DELETED a"), "{lines:?}");
    assert!(started.elapsed().as_secs() < 5);
}
