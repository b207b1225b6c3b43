//! What is kept of an object that can't be decoded any more, where its metadata is wanted.

use serde_json::json;

use super::{
    recorder::key,
    scene::{Scene, item, undecodable},
};

fn taking_over() -> Scene {
    Scene::with(|config| config.take_over_metadata = true)
}

#[tokio::test(start_paused = true)]
async fn its_metadata_is_taken_over_and_the_rest_stays() {
    let mut scene = taking_over();
    let mut first = item("a", 5);
    first["data"] = json!({ "kept": "value" });
    scene.server.answer_list(10, &[first]).await;
    let watch = scene.server.open_watch(10).await;
    assert_eq!(scene.take().await, ["+a@5!"]);

    let mut marked = undecodable("a", 11);
    marked["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    marked["metadata"]["finalizers"] = json!(["theirs"]);
    watch.event("MODIFIED", &marked);
    assert_eq!(scene.take().await, ["a@5>11"]);
    let kept = scene.informer.get(&key("a")).unwrap();
    assert!(kept.metadata.deletion_timestamp.is_some());
    assert_eq!(kept.metadata.finalizers, Some(vec!["theirs".to_owned()]));
    assert_eq!(kept.data.as_ref().and_then(|data| data.get("kept")), Some(&"value".to_owned()));
    let (of, reason) = scene.informer.undecodable().remove(0);
    assert_eq!((of, reason.starts_with("data: invalid type, expected ")), (key("a"), true), "{reason}");
    assert!(scene.informer.is_undecodable(&key("a")) && !scene.informer.is_undecodable(&key("b")));

    // Once it can be decoded, nothing of before counts: it is told like one that has just appeared.
    watch.event("MODIFIED", &item("a", 12));
    assert_eq!(scene.take().await, ["+a@12"]);
    assert!(!scene.informer.is_undecodable(&key("a")));

    // By a list, too; and its end is its end.
    watch.expired();
    scene.server.answer_list(20, &[undecodable("a", 15)]).await;
    let watch = scene.server.open_watch(20).await;
    assert_eq!(scene.take().await, ["a@12>15"]);
    watch.event("DELETED", &undecodable("a", 21));
    assert_eq!(scene.take().await, ["-a@15?"]);
    assert!(!scene.informer.is_undecodable(&key("a")));
}

#[tokio::test(start_paused = true)]
async fn of_one_that_was_never_known_it_is_said_that_it_stays() {
    let mut scene = taking_over();
    let mut marked = undecodable("a", 5);
    marked["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    scene.server.answer_list(10, &[marked, undecodable("b", 6)]).await;
    let _watch = scene.server.open_watch(10).await;
    assert_eq!(scene.take().await, [""; 0]);
    let reasons: Vec<String> = scene.informer.undecodable().into_iter().map(|(_, reason)| reason).collect();
    assert!(reasons[0].contains("it is marked for deletion, and stays"), "{reasons:?}");
    assert!(!reasons[1].contains("marked"), "{reasons:?}");
    assert!(scene.informer.get(&key("a")).is_none());
}
