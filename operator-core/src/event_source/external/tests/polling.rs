//! One fetch for all primaries.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;

use super::world::{Started, System, Thing, key, pass, seconds};
use crate::{event_source::external::PollingEventSource, observe::SourceHealth};

const PERIOD: Duration = seconds(30);

fn declared(system: &System) -> PollingEventSource<Thing, u8> {
    let system = system.clone();
    PollingEventSource::new("things", PERIOD, move || system.clone().all())
}

#[tokio::test(start_paused = true)]
async fn everything_is_fetched_at_the_start_and_then_in_each_period() {
    let system = System::default();
    system.set("a", &[Thing(1, 1)]);
    system.takes(seconds(5));
    let started = Started::of(&declared(&system));
    assert_eq!((started.source.health(), started.source.name()), (SourceHealth::Syncing, "things"));
    assert!(started.source.synced().now_or_never().is_none());
    started.source.synced().await;
    assert_eq!((started.get("a"), started.source.health()), (vec![Thing(1, 1)], SourceHealth::Healthy));
    pass(seconds(1)).await;
    started.woken();
    system.asked();
    pass(PERIOD - seconds(1)).await;
    assert_eq!(system.asked(), ["all"]);
    let known = started.fetch_now("a").now_or_never();
    assert_eq!(known, Some(Ok(vec![Thing(1, 1)])), "it doesn't wait for the poll that is under way");
    pass(seconds(5)).await;

    system.set("b", &[Thing(1, 1)]);
    pass(PERIOD).await;
    assert_eq!(system.asked(), ["all"]);
    pass(seconds(5)).await;
    assert_eq!(started.woken(), ["shop/b by 0"], "only what has changed");
    system.unset("a");
    pass(PERIOD + seconds(5)).await;
    assert_eq!(started.woken(), ["shop/a by 0"], "what is missing is gone");
    assert_eq!((started.get("a"), started.store().kept()), (vec![], 1));
}

#[tokio::test(start_paused = true)]
async fn a_failed_poll_is_told_once_and_changes_nothing() {
    let system = System::default();
    system.set("a", &[Thing(1, 1)]);
    let started = Started::of(&declared(&system));
    started.source.synced().await;
    system.broken(true);
    pass(PERIOD).await;
    let SourceHealth::Unhealthy { reason, advice } = started.source.health() else { panic!("it failed") };
    assert_eq!(reason, "event source things could not fetch: out of order");
    assert!(advice.unwrap().contains("30 s"));
    assert_eq!(started.get("a"), [Thing(1, 1)]);
    system.asked();
    pass(PERIOD).await;
    assert_eq!(system.asked(), ["all"], "it goes on with the next period");
    system.broken(false);
    pass(PERIOD).await;
    assert_eq!(started.source.health(), SourceHealth::Healthy);
    assert_eq!(started.woken(), ["shop/a by 0"], "that was the first poll");
}

#[tokio::test(start_paused = true)]
async fn before_the_first_success_it_is_tried_sooner() {
    let system = System::default();
    system.broken(true);
    let started = Started::of(&declared(&system));
    pass(seconds(1 + 2 + 4)).await;
    assert_eq!(system.asked().len(), 4);
    assert!(started.source.synced().now_or_never().is_none());
    system.broken(false);
    pass(seconds(8)).await;
    assert!(started.source.synced().now_or_never().is_some());
    system.asked();
    pass(PERIOD - seconds(1)).await;
    assert!(system.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_hangs_or_panics_has_failed() {
    let system = System::default();
    system.takes(seconds(1_000));
    let started = Started::of(&declared(&system).fetch_timeout(seconds(10)));
    pass(seconds(10)).await;
    let SourceHealth::Unhealthy { reason, .. } = started.source.health() else { panic!("it failed") };
    assert!(reason.contains("longer than 10 s"), "{reason}");

    let panics = PollingEventSource::with_id(
        "things",
        PERIOD,
        |thing: &Thing| -> u8 { panic!("{thing:?}") },
        || async { Ok::<_, std::io::Error>([(key("a"), vec![Thing(1, 1)])].into()) },
    );
    let started = Started::of(&panics);
    pass(seconds(1)).await;
    let SourceHealth::Unhealthy { reason, .. } = started.source.health() else { panic!("it failed") };
    assert!(reason.contains("panicked"), "{reason}");
    assert!(started.woken().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_writes_and_reads_through_the_store() {
    let system = System::default();
    let started = Started::of(&declared(&system));
    assert_eq!(started.fetch_now("a").await, Ok(vec![]));
    system.asked();
    assert_eq!(started.fetch_now("a").await, Ok(vec![]));
    assert!(system.asked().is_empty(), "an empty answer is one, too");

    let store = started.store();
    store.created(&key("a"), Arc::new(Thing(1, 1)));
    store.updated(&key("a"), &Thing(1, 1), Arc::new(Thing(1, 2)));
    pass(PERIOD).await;
    assert_eq!(started.get("a"), [Thing(1, 2)], "the poll doesn't know it yet");
    store.deleted(&key("a"), &Thing(1, 0));
    assert!(started.get("a").is_empty());
    assert!(started.woken().is_empty(), "own writes wake nobody");

    system.set("a", &[Thing(2, 1)]);
    system.set("b", &[Thing(2, 1)]);
    assert_eq!(store.refetch(&key("a")).await.unwrap().len(), 1);
    assert_eq!(started.woken(), ["shop/b by 0"], "the one that asks is not woken");
    system.broken(true);
    assert!(store.refetch(&key("a")).await.unwrap_err().is_retryable());
    system.broken(false);
    system.unset("a");
    system.unset("b");
    pass(PERIOD).await;
    assert_eq!(started.store().kept(), 0);
}
