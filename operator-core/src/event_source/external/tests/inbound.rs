//! What another system pushes.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;

use super::world::{Started, System, Thing, key, pass, seconds};
use crate::event_source::external::{CachingInboundEventSource, SimpleInboundEventSource};

fn declared(system: &System) -> CachingInboundEventSource<ConfigMap, Thing, u8> {
    let system = system.clone();
    CachingInboundEventSource::new("things", move |primary| system.clone().of(primary))
}

async fn started(source: &CachingInboundEventSource<ConfigMap, Thing, u8>, primaries: &[&str]) -> Started {
    let started = Started::of(source);
    for name in primaries {
        started.cluster.apply(name, true);
    }
    started.source.synced().await;
    started
}

#[tokio::test(start_paused = true)]
async fn a_push_wakes_the_primary_if_it_is_news() {
    let source = declared(&System::default());
    let handle = source.handle();
    let started = started(&source, &["a"]).await;
    handle.put(&key("a"), vec![Thing(1, 1), Thing(2, 1)]);
    assert_eq!(started.woken(), ["shop/a by 0"]);
    handle.put(&key("a"), vec![Thing(1, 1), Thing(2, 1)]);
    handle.delete(&key("a"), &9);
    assert!(started.woken().is_empty());
    handle.delete(&key("a"), &1);
    assert_eq!((started.woken().len(), started.get("a")), (1, vec![Thing(2, 1)]));
}

#[tokio::test(start_paused = true)]
async fn what_was_not_pushed_is_fetched_once() {
    let system = System::default();
    let source = declared(&system);
    let started = started(&source, &["a", "b"]).await;
    assert_eq!(started.fetch_now("a").await, Ok(vec![]));
    assert_eq!(started.fetch_now("a").await, Ok(vec![]));
    source.handle().put(&key("b"), vec![Thing(1, 1)]);
    assert_eq!(started.fetch_now("b").await, Ok(vec![Thing(1, 1)]));
    assert_eq!(system.asked(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_push_is_newer_than_a_fetch_that_it_has_overtaken() {
    let system = System::default();
    system.set("a", &[Thing(1, 1)]);
    system.takes(seconds(5));
    let source = declared(&system);
    let started = started(&source, &["a"]).await;
    let push = async {
        pass(seconds(1)).await;
        source.handle().put(&key("a"), vec![Thing(1, 2)]);
    };
    let (fetched, ()) = tokio::join!(started.fetch_now("a"), push);
    assert_eq!((fetched, system.asked().len()), (Ok(vec![Thing(1, 2)]), 1));

    // Without a full set a push only says that the answer is old.
    started.cluster.delete("a");
    started.cluster.apply("a", true);
    let push = async {
        pass(seconds(1)).await;
        system.set("a", &[]);
        source.handle().delete(&key("a"), &1);
    };
    let (fetched, ()) = tokio::join!(started.fetch_now("a"), push);
    assert_eq!((fetched, system.asked().len()), (Ok(vec![]), 2));
}

#[tokio::test(start_paused = true)]
async fn pushes_for_nobody_are_not_kept() {
    let source = declared(&System::default());
    let handle = source.handle();
    handle.put(&key("never"), vec![Thing(1, 1)]);
    let started = started(&source, &["a"]).await;
    assert_eq!(started.store().kept(), 2, "the first run doesn't wait until all primaries have been seen");
    pass(seconds(1)).await;
    handle.put(&key("never"), vec![Thing(1, 1)]);
    handle.delete(&key("nor-this"), &1);
    handle.put(&key("a"), vec![Thing(1, 1)]);
    started.cluster.delete("a");
    handle.put(&key("a"), vec![Thing(1, 2)]);
    assert_eq!(started.store().kept(), 0);
}

#[tokio::test(start_paused = true)]
async fn pushes_are_taken_in_before_the_start_and_between_two_of_them() {
    let system = System::default();
    let source = declared(&system);
    let handle = source.handle();
    handle.put(&key("a"), vec![Thing(1, 1), Thing(2, 1)]);
    handle.delete(&key("a"), &2);
    handle.delete(&key("b"), &1);
    let first = started(&source, &["a", "b"]).await;
    assert_eq!(first.get("a"), [Thing(1, 1)]);
    assert_eq!(first.fetch_now("b").await, Ok(vec![]), "nothing is known of this one");
    assert_eq!(system.asked(), ["b"]);
    drop(first);
    pass(seconds(1)).await;
    handle.put(&key("b"), vec![Thing(3, 1)]);
    let second = started(&source, &["a", "b"]).await;
    assert_eq!((second.get("a"), second.get("b")), (vec![], vec![Thing(3, 1)]), "the first one is forgotten");
    second.store().created(&key("a"), Arc::new(Thing(1, 5)));
    handle.put(&key("a"), vec![]);
    assert_eq!(second.get("a"), [Thing(1, 5)], "the push may be older than the write");
    handle.put(&key("a"), vec![]);
    assert_eq!((second.get("a"), second.woken().len()), (vec![], 1));
}

#[tokio::test(start_paused = true)]
async fn a_simple_source_wakes_whenever_the_operator_runs() {
    let source = SimpleInboundEventSource::new("pushes");
    let handle = source.handle();
    handle.wake(&key("a"));
    for _ in 0..2 {
        let started = Started::of(&source);
        started.source.synced().await;
        assert!(started.woken().is_empty(), "a start runs everything anyway");
        handle.wake(&key("a"));
        assert_eq!(started.woken(), ["shop/a by 0"]);
        let recorder = started.cluster.followers();
        assert_eq!(recorder, 0, "it keeps nothing about primaries");
        drop(started);
        pass(seconds(1)).await;
        handle.wake(&key("a"));
    }
}
