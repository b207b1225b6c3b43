//! Calls of a system, in paused time.

mod backoff;
mod circuit;
mod world;

use std::sync::Arc;

use futures::{FutureExt, future::join_all};
use tokio::time::Instant;

use super::*;
use world::{Reported, World, seconds, started, zone};

fn text(error: &CallError) -> String {
    match error {
        CallError::NotCalled(error) => format!("not called: {}", error_chain(error)),
        CallError::Failed(error) => format!("failed: {}", error_chain(error)),
        CallError::Refused(error) => format!("refused: {}", error_chain(&**error)),
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_than_the_limit_are_in_progress_and_who_came_first_goes_first() {
    let world = World::of(System::new("dns").calls_at_once(2));
    let (order, begin) = (Mutex::new(Vec::new()), Instant::now());
    let calls = ["a", "b", "c", "d", "e"].map(|name| {
        let (world, order) = (&world, &order);
        async move {
            world.takes(name, seconds(1)).await.expect("it is answered");
            order.lock().push((name, begin.elapsed().as_secs()));
        }
    });
    join_all(calls).await;
    assert_eq!(*order.lock(), [("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 3)]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_counts_from_the_beginning_of_the_call_and_nothing_is_known_after_it() {
    let world = World::of(System::new("dns").deadline(seconds(10)).calls_at_once(1));
    let (first, second) = futures::join!(world.takes("a", seconds(9)), world.takes("b", seconds(9)));
    assert!(first.is_ok() && second.is_ok(), "it has waited for nine seconds, and called for nine");
    let error = world.takes("c", seconds(11)).await.expect_err("it takes too long");
    let words =
        "failed: system `dns` has not answered `create` in 10s; it may carry out the call all the same";
    assert_eq!(text(&error), words);
    let patient = World::of(world.system.clone().deadline(seconds(60)));
    assert!(patient.takes("d", seconds(11)).await.is_ok(), "one node may have more time than others");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_gives_its_permit_back_and_counts_as_one_without_an_answer() {
    let world = World::of(System::new("dns").calls_at_once(1));
    for name in ["a", "b", "c", "d"] {
        assert!(tokio::time::timeout(seconds(5), world.takes(name, seconds(9))).await.is_err());
    }
    let error = world.takes("d", seconds(1)).await.expect_err("it was called just now");
    let words = "not called: system `dns` is not called for this record before 1970-01-01T00:00:21Z, because a call has failed \
                 (create: it was dropped before an answer came)";
    assert_eq!(text(&error), words);
    assert_eq!(world.health(), SourceHealth::Healthy);
    assert!(tokio::time::timeout(seconds(5), world.takes("e", seconds(9))).await.is_err());
    assert!(matches!(world.health(), SourceHealth::Unhealthy { .. }));
    // One that waits for its permit has not begun.
    let other = World::of(System::new("dns").calls_at_once(1));
    let waits = async {
        assert!(tokio::time::timeout(seconds(1), other.takes("b", seconds(1))).await.is_err());
        other.takes("b", seconds(1)).await
    };
    let (first, second) = futures::join!(other.takes("a", seconds(5)), waits);
    assert!(first.is_ok() && second.is_ok() && other.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_record_whose_call_failed_waits_and_no_other_does() {
    let world = World::of(System::new("dns"));
    assert_eq!(
        text(&world.fails("a", "no route").await),
        "failed: `create` in system `dns` failed: no route"
    );
    let error = world.fails("a", "no route").await;
    let words = "not called: system `dns` is not called for this record before 1970-01-01T00:00:01Z, because a call has failed \
                 (create: no route)";
    assert_eq!(text(&error), words);
    assert!(world.takes("b", seconds(0)).await.is_ok());
    assert_eq!(world.made(), 2);
    tokio::time::sleep(seconds(1)).await;
    assert!(world.takes("a", seconds(0)).await.is_ok());
    assert!(world.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_the_error_that_it_was_and_says_that_the_system_is_there() {
    let world = World::of(System::new("dns"));
    for name in ["a", "b", "c", "d", "e", "f"] {
        assert_eq!(text(&world.fails(name, "no").await), "refused: no");
    }
    assert_eq!(world.fails("h", "no").await.boxed().to_string(), "no");
    let permanent = world.call::<()>("g", async { Err(Permanent::new("no such zone").into()) }).await;
    assert!(matches!(permanent, Err(CallError::Refused(_))));
    assert_eq!(world.health(), SourceHealth::Healthy);
}

#[tokio::test(start_paused = true)]
async fn while_it_is_down_calls_fail_at_once_and_one_finds_out() {
    let world = World::of(System::new("dns"));
    world.goes_down().await;
    let error = world.takes("f", seconds(0)).await.expect_err("it is down");
    let words = "not called: system `dns` is down since 1970-01-01T00:00:00Z (create: no route), and is called again at \
                 1970-01-01T00:00:01Z";
    assert_eq!(text(&error), words);
    assert_eq!(world.made(), 5);
    tokio::time::sleep(seconds(1)).await;
    let (probe, other) = futures::join!(world.takes("f", seconds(3)), world.takes("g", seconds(0)));
    assert!(probe.is_ok());
    let words = "not called: system `dns` is down since 1970-01-01T00:00:00Z (create: no route), and a call in progress probes \
                 whether it is back";
    assert_eq!(text(&other.expect_err("one at a time")), words);
    assert!(world.takes("g", seconds(0)).await.is_ok());
    assert_eq!(world.health(), SourceHealth::Healthy);
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_when_it_goes_down_are_not_made() {
    let world = World::of(System::new("dns").deadline(seconds(10)).calls_at_once(5));
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let begin = Instant::now();
    let results = join_all(names.map(|name| world.takes(name, seconds(60)))).await;
    assert_eq!((world.made(), begin.elapsed()), (5, seconds(10)));
    let not_called = results.iter().filter(|result| matches!(result, Err(CallError::NotCalled(_))));
    assert_eq!(not_called.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_the_callers_and_counts_as_a_failure() {
    let world = World::of(System::new("dns").calls_at_once(1));
    let call = world.call::<()>("a", async { panic!("a bug") });
    assert!(std::panic::AssertUnwindSafe(call).catch_unwind().await.is_err());
    let error = world.takes("a", seconds(0)).await.expect_err("it has failed just now");
    assert!(text(&error).ends_with("(create: it panicked)"), "{}", text(&error));
    assert!(world.takes("b", seconds(0)).await.is_ok(), "the permit is back");
}

#[tokio::test(start_paused = true)]
async fn a_controller_tells_that_it_is_down_and_that_it_is_back() {
    let (world, reported) = (World::of(System::new("dns")), Arc::<Reported>::default());
    let source = started(&world, &reported);
    let running = tokio::spawn(source.run());
    world.goes_down().await;
    tokio::time::sleep(seconds(2)).await;
    let down = "system dns: it is down since 1970-01-01T00:00:00Z: 5 calls have failed, the last one with create: no route";
    assert_eq!(*reported.0.lock(), [down]);
    let SourceHealth::Unhealthy { advice, .. } = source.health() else { panic!("it is down") };
    let words = "its records don't change, and it is called again at 1970-01-01T00:00:01Z";
    assert_eq!(advice.as_deref(), Some(words));
    world.takes("a", seconds(0)).await.expect("it is back");
    tokio::task::yield_now().await;
    assert_eq!(*reported.0.lock(), [down, "system dns: Healthy"]);
    assert_eq!(source.health(), SourceHealth::Healthy);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn an_outage_about_which_no_one_asks_is_not_told_forever() {
    let (world, reported) = (World::of(System::new("dns")), Arc::<Reported>::default());
    let source = started(&world, &reported);
    let running = tokio::spawn(source.run());
    world.goes_down().await;
    tokio::time::sleep(super::circuit::TOLD_FOR + seconds(2)).await;
    assert_eq!(reported.0.lock().last().map(String::as_str), Some("system dns: Healthy"));
    assert_eq!(source.health(), SourceHealth::Healthy);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_about_what_is_gone() {
    let world = World::of(System::new("dns"));
    for name in ["a", "b", "c"] {
        world.fails(name, "no route").await;
    }
    for name in ["a", "c"] {
        world.scopes.gone(&zone(name));
    }
    assert!(!world.is_empty());
    // One whose primary goes while it is in progress.
    tokio::time::sleep(seconds(1)).await;
    let goes = async {
        tokio::time::sleep(seconds(1)).await;
        world.scopes.gone(&zone("b"));
    };
    let (call, ()) = futures::join!(tokio::time::timeout(seconds(2), world.takes("b", seconds(9))), goes);
    assert!(call.is_err());
    assert!(world.is_empty());
    // Its successor isn't paused.
    world.scopes.seen(&zone("b"), "another");
    assert!(world.takes("b", seconds(0)).await.is_ok());
}
