//! One fetch for each primary.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Pod};

use super::world::{Started, System, Thing, key, pass, seconds};
use crate::{event_source::external::PerResourcePollingEventSource, observe::SourceHealth};

const PERIOD: Duration = seconds(30);

fn declared(system: &System) -> PerResourcePollingEventSource<ConfigMap, Thing, u8> {
    let system = system.clone();
    PerResourcePollingEventSource::new("things", PERIOD, move |primary| system.clone().of(primary))
        .spread(0.0)
}

#[tokio::test(start_paused = true)]
async fn a_primary_is_polled_one_period_after_it_appeared() {
    let system = System::default();
    system.set("a", &[Thing(1, 1)]);
    let started = Started::of(&declared(&system));
    started.source.synced().await;
    started.cluster.apply("a", true);
    pass(PERIOD - seconds(1)).await;
    assert!(system.asked().is_empty());
    started.cluster.apply("a", true);
    pass(seconds(1)).await;
    assert_eq!(system.asked(), ["a"], "a change doesn't put it off");
    assert_eq!((started.woken(), started.get("a")), (vec!["shop/a by 0".to_owned()], vec![Thing(1, 1)]));
    pass(PERIOD).await;
    assert_eq!((system.asked(), started.woken()), (vec!["a".to_owned()], vec![]), "nothing has changed");
}

#[tokio::test(start_paused = true)]
async fn only_primaries_that_the_predicate_accepts_are_polled() {
    let system = System::default();
    let started = Started::of(&declared(&system).poll_when(|primary| primary.data.is_some()));
    started.cluster.apply("a", false);
    pass(PERIOD).await;
    assert!(system.asked().is_empty());
    started.cluster.apply("a", true);
    pass(PERIOD).await;
    assert_eq!(system.asked(), ["a"]);
    started.cluster.apply("a", false);
    pass(PERIOD * 2).await;
    assert!(system.asked().is_empty());
    assert_eq!(started.fetch_now("a").await, Ok(vec![]), "what was polled stays known");
}

#[tokio::test(start_paused = true)]
async fn the_first_need_fetches_once_and_wakes_nobody() {
    let system = System::default();
    let started = Started::of(&declared(&system));
    started.cluster.apply("a", true);
    pass(seconds(10)).await;
    system.takes(seconds(1));
    let store = started.store();
    let (first, second) = (key("a"), key("a"));
    let (left, right) = tokio::join!(store.fetch_now(&first), store.fetch_now(&second));
    assert_eq!((left.unwrap().len(), right.unwrap().len()), (0, 0));
    assert_eq!(started.fetch_now("a").await, Ok(vec![]));
    assert_eq!(system.asked(), ["a"], "an empty answer is one, too");
    system.set("a", &[Thing(1, 1)]);
    assert_eq!(store.refetch(&key("a")).await.unwrap().len(), 1);
    assert_eq!((system.asked(), started.woken()), (vec!["a".to_owned()], vec![]));
    pass(PERIOD - seconds(1)).await;
    assert!(system.asked().is_empty(), "the poll counts from the last fetch");
    pass(seconds(2)).await;
    assert_eq!(system.asked(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_does_not_wait_for_a_poll_that_is_under_way() {
    let system = System::default();
    let started = Started::of(&declared(&system));
    started.cluster.apply("a", true);
    pass(PERIOD).await;
    system.takes(seconds(10));
    pass(PERIOD).await;
    assert_eq!(system.asked().len(), 2);
    let known = tokio::time::timeout(seconds(1), started.fetch_now("a")).await;
    assert_eq!(known, Ok(Ok(vec![])));
}

#[tokio::test(start_paused = true)]
async fn a_result_may_say_when_to_come_back() {
    let system = System::default();
    system.set("a", &[Thing(1, 0)]);
    let pending =
        |things: &[Arc<Thing>], _: &ConfigMap| things.iter().any(|thing| thing.1 == 0).then_some(seconds(2));
    let started = Started::of(&declared(&system).delay_after(pending));
    started.cluster.apply("a", true);
    pass(PERIOD + seconds(4)).await;
    assert_eq!(system.asked().len(), 3);
    system.set("a", &[Thing(1, 1)]);
    pass(seconds(2)).await;
    assert_eq!(system.asked().len(), 1);
    pass(PERIOD - seconds(1)).await;
    assert!(system.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_primary_cancels_and_forgets_everything() {
    let system = System::default();
    system.set("a", &[Thing(1, 1)]);
    let started = Started::of(&declared(&system));
    started.cluster.apply("a", true);
    pass(PERIOD).await;
    started.store().created(&key("a"), Arc::new(Thing(2, 1)));
    assert!(started.store().kept() > 0);

    // A poll and a run's own fetch are under way when it goes.
    system.takes(seconds(20));
    pass(PERIOD).await;
    let asking = tokio::spawn({
        let store = Arc::clone(started.store());
        async move { store.refetch(&key("a")).await }
    });
    pass(seconds(1)).await;
    started.cluster.delete("a");
    let gone = asking.await.unwrap().unwrap_err();
    assert_eq!(gone.to_string(), "event source things: the primary shop/a is gone");
    started.woken();
    started.store().created(&key("a"), Arc::new(Thing(2, 1)));
    pass(PERIOD * 2).await;
    assert_eq!((started.store().kept(), started.woken()), (0, vec![]));
    assert!(started.fetch_now("a").await.is_err());

    // Its successor has nothing of it.
    system.asked();
    started.cluster.apply("a", true);
    assert!(started.get("a").is_empty());
    pass(PERIOD).await;
    assert_eq!(system.asked(), ["a"]);
    drop(system);
    assert_eq!(started.cluster.followers(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_more_polls_are_under_way_than_allowed() {
    let system = System::default();
    system.takes(seconds(5));
    let started = Started::of(&declared(&system).max_concurrent_polls(3));
    for number in 0..10 {
        started.cluster.apply(&format!("p{number}"), true);
    }
    pass(PERIOD + seconds(20)).await;
    assert_eq!((system.most_under_way(), system.asked().len()), (3, 10));
}

#[tokio::test(start_paused = true)]
async fn it_is_unhealthy_while_it_can_fetch_for_nobody() {
    let system = System::default();
    let fetch = {
        let system = system.clone();
        move |primary: Arc<ConfigMap>| {
            let (system, broken) = (system.clone(), primary.data.is_none());
            async move {
                let things = system.of(primary).await?;
                if broken { Err(std::io::Error::other("no such account")) } else { Ok(things) }
            }
        }
    };
    let source = PerResourcePollingEventSource::new("things", PERIOD, fetch).spread(0.0);
    let started = Started::of(&source);
    system.set("good", &[Thing(1, 1)]);
    started.cluster.apply("good", true);
    started.cluster.apply("bad", false);
    pass(PERIOD).await;
    assert_eq!(started.source.health(), SourceHealth::Healthy, "one works");
    system.broken(true);
    pass(PERIOD).await;
    assert!(matches!(started.source.health(), SourceHealth::Unhealthy { .. }));
    assert_eq!(started.get("good"), [Thing(1, 1)], "what was known is kept");
    assert!(started.fetch_now("bad").await.unwrap_err().contains("could not fetch"));
    started.cluster.delete("good");
    started.cluster.delete("bad");
    assert_eq!((started.source.health(), started.store().kept()), (SourceHealth::Healthy, 0));
}

#[tokio::test(start_paused = true)]
async fn a_source_for_other_primaries_says_so() {
    let source = PerResourcePollingEventSource::new("things", PERIOD, |_: Arc<Pod>| async {
        Ok::<Vec<Thing>, std::io::Error>(Vec::new())
    });
    let started = Started::of(&source);
    started.cluster.apply("a", true);
    let SourceHealth::Unhealthy { reason, .. } = started.source.health() else { panic!("it can't work") };
    assert!(reason.contains("Pod"), "{reason}");
    assert!(started.fetch_now("a").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_was_dropped_is_told_nothing() {
    let started = Started::of(&declared(&System::default()));
    let cluster = Arc::clone(&started.cluster);
    assert_eq!(cluster.followers(), 1);
    drop(started);
    pass(seconds(1)).await;
    assert_eq!(cluster.followers(), 0);
}
