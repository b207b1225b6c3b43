//! Each word of the script, in paused time.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use tokio::{sync::Notify, time::timeout};

use super::{
    OtherSystemError::{Down, NoAnswer, NotFound, Refused, TooManyCalls},
    *,
};

type System = OtherSystem<u32>;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn made(id: &str, body: u32) -> Result<(String, u32), OtherSystemError> {
    Ok((id.to_owned(), body))
}

fn record(id: &str, token: &str, body: impl Into<Option<u32>>) -> (String, String, Option<u32>) {
    (id.to_owned(), token.to_owned(), body.into())
}

#[tokio::test(start_paused = true)]
async fn records_are_made_found_changed_and_deleted() {
    let system = System::new();
    assert_eq!(system.create("a", 1).await, made("id-1", 1));
    assert_eq!(system.create("b", 2).await, made("id-2", 2));
    assert_eq!(system.get("id-1").await, Ok(Some(1)));
    assert_eq!(system.update("id-1", 3).await, Ok(3));
    assert_eq!(system.find("a").await, Ok(vec![("id-1".to_owned(), 3)]));
    assert_eq!(system.list().await, Ok(vec![("id-1".to_owned(), 3), ("id-2".to_owned(), 2)]));
    assert_eq!(system.delete("id-1").await, Ok(Deletion::Gone));
    assert_eq!(system.delete("id-1").await, Ok(Deletion::Gone), "as often as one likes");
    assert_eq!(system.get("id-1").await, Ok(None));
    assert_eq!(system.update("id-1", 4).await, Err(NotFound("id-1".to_owned())));
    assert_eq!(system.find("a").await, Ok(vec![]));
    assert_eq!(system.records(), [record("id-1", "a", None), record("id-2", "b", 2)]);
    assert_eq!((system.made_for("a"), system.made_for("c")), (1, 0));
    let calls = system.calls();
    assert_eq!(calls[..3], ["create a", "create b", "get id-1"]);
    assert!(calls.contains(&"list".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn latency_passes_before_and_after_the_effect() {
    let system = System::new();
    system.latency(seconds(2));
    let begin = Instant::now();
    assert_eq!(system.create("a", 1).await, made("id-1", 1));
    assert_eq!(begin.elapsed(), seconds(2));
    let half = seconds(1);
    assert!(timeout(half - Duration::from_millis(1), system.create("b", 1)).await.is_err());
    assert!(timeout(half + Duration::from_millis(1), system.create("c", 1)).await.is_err());
    let made = [system.made_for("b"), system.made_for("c")];
    assert_eq!(made, [0, 1], "dropped on its way there, and on its way back");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_hides_what_was_done_and_a_lost_request_does_nothing() {
    let system = System::new();
    system.lose_answers(1, "create").lose_requests(1, "create").never_answer(1, "delete");
    system.never_answer(usize::MAX, "find");
    let unfired = system.unfired();
    let words =
        ["create: AnswerLost, 1 times", "create: RequestLost, 1 times", "delete: NeverAnswered, 1 times"];
    assert_eq!(unfired[..3], words);
    for token in ["a", "b"] {
        assert_eq!(system.create(token, 1).await, Err(NoAnswer));
    }
    assert_eq!(system.create("c", 1).await, made("id-2", 1));
    assert_eq!(system.records(), [record("id-1", "a", 1), record("id-2", "c", 1)]);
    assert!(timeout(seconds(3600), system.delete("id-1")).await.is_err());
    assert_eq!(system.get("id-1").await, Ok(None));
    for _ in 0..3 {
        assert!(timeout(seconds(3600), system.find("a")).await.is_err());
    }
    assert_eq!(system.unfired(), [format!("find: NeverAnswered, {} times", usize::MAX - 3)]);
    assert!(!NoAnswer.is_refusal() && !Down.is_refusal());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_does_nothing_and_says_why() {
    let system = System::new();
    system.refuse(1, "create", "no such zone");
    let error = system.create("a", 1).await.unwrap_err();
    assert_eq!((error.is_refusal(), &error), (true, &Refused("no such zone".to_owned())));
    assert_eq!(system.get("id-1").await, Ok(None));
    assert_eq!(system.create("a", 1).await, made("id-1", 1));
}

#[tokio::test(start_paused = true)]
async fn a_doubled_create_makes_two() {
    let system = System::new();
    system.double(1, "create");
    assert_eq!(system.create("a", 1).await, made("id-2", 1));
    assert_eq!(system.made_for("a"), 2);
    assert_eq!(system.create("b", 1).await, made("id-3", 1));
    system.double(1, "delete");
    assert_eq!(system.delete("id-3").await, Ok(Deletion::Gone));
}

#[tokio::test(start_paused = true)]
async fn an_outage_lasts_until_it_is_over() {
    let system = System::new();
    system.down_for(seconds(10));
    assert_eq!(system.create("a", 1).await, Err(Down));
    tokio::time::sleep(seconds(10)).await;
    assert!(system.create("a", 1).await.is_ok());
    system.outage(true);
    tokio::time::sleep(seconds(1000)).await;
    assert_eq!(system.list().await, Err(Down));
    system.outage(false);
    assert!(system.list().await.is_ok());
    assert_eq!(system.calls().len(), 4, "what was not done was asked for, too");
}

#[tokio::test(start_paused = true)]
async fn reads_lag_behind_and_changes_do_not() {
    let system = System::new();
    system.shows_after(seconds(5));
    assert_eq!(system.create("a", 1).await, made("id-1", 1));
    assert_eq!(
        (system.get("id-1").await, system.find("a").await, system.list().await),
        (Ok(None), Ok(vec![]), Ok(vec![]))
    );
    tokio::time::sleep(seconds(4)).await;
    assert_eq!(system.update("id-1", 2).await, Ok(2), "it is there");
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(system.get("id-1").await, Ok(Some(1)));
    assert_eq!(system.delete("id-1").await, Ok(Deletion::Gone));
    assert_eq!(system.records(), [record("id-1", "a", None)]);
    tokio::time::sleep(seconds(4)).await;
    assert_eq!(system.get("id-1").await, Ok(Some(2)));
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(system.get("id-1").await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn a_slow_deletion_is_asked_for_until_it_is_done() {
    let system = System::new();
    system.deletes_in(seconds(10));
    system.create("a", 1).await.unwrap();
    for _ in 0..2 {
        assert_eq!(system.delete("id-1").await, Ok(Deletion::Asked));
        assert_eq!(system.get("id-1").await, Ok(Some(1)));
        tokio::time::sleep(seconds(5)).await;
    }
    assert_eq!(system.records(), [record("id-1", "a", None)], "the second request begins nothing new");
    assert_eq!(system.get("id-1").await, Ok(None));
    assert_eq!(system.delete("id-1").await, Ok(Deletion::Gone));
}

#[tokio::test(start_paused = true)]
async fn too_many_calls_are_told_when_to_come_again() {
    let system = System::new();
    system.rate(2, seconds(10));
    assert!(system.list().await.is_ok());
    tokio::time::sleep(seconds(4)).await;
    assert!(system.list().await.is_ok());
    for _ in 0..3 {
        assert_eq!(system.list().await, Err(TooManyCalls { again_in: seconds(6) }));
    }
    tokio::time::sleep(seconds(6)).await;
    assert!(system.list().await.is_ok());
    assert_eq!(system.list().await, Err(TooManyCalls { again_in: seconds(4) }));
}

#[tokio::test(start_paused = true)]
async fn a_hook_sees_each_call_before_and_after_and_may_keep_it() {
    let (system, seen) = (System::new(), Arc::<Mutex<Vec<String>>>::default());
    let (told, points) = (Arc::clone(&seen), Arc::new(AtomicUsize::new(0)));
    let stopped = Arc::new(Notify::new());
    let stops = Arc::clone(&stopped);
    system.on_call(move |call| {
        told.lock().push(call);
        let (point, stops) = (points.fetch_add(1, Ordering::Relaxed), Arc::clone(&stops));
        async move {
            // The process stops here: the request has arrived, its answer never does.
            if point == 3 {
                stops.notify_one();
                std::future::pending().await
            }
        }
    });
    assert_eq!(system.create("a", 1).await, made("id-1", 1));
    tokio::select! {
        biased;
        _ = system.create("b", 1) => panic!("it is stopped"),
        () = stopped.notified() => {}
    }
    assert_eq!(*seen.lock(), ["before create a", "after create a", "before create b", "after create b"]);
    assert_eq!(system.made_for("b"), 1);
}

#[tokio::test(start_paused = true)]
async fn somebody_else_changes_records_and_calls_at_once_are_counted() {
    let system = System::new();
    system.latency(seconds(1));
    join_all([1, 2, 3].map(|body| system.create("a", body))).await;
    assert_eq!(system.most_at_once(), 3);
    assert!(system.meddle("id-1", Some(7)) && system.meddle("id-2", None));
    assert!(!system.meddle("id-2", Some(1)) && !system.meddle("id-9", None));
    assert_eq!(system.list().await, Ok(vec![("id-1".to_owned(), 7), ("id-3".to_owned(), 3)]));
    assert_eq!(system.calls().len(), 4, "no one has called");
}

#[test]
fn a_word_that_is_no_call_is_told() {
    let told = std::panic::catch_unwind(|| drop(System::new().lose_answers(1, "make").clone()));
    let told = told.expect_err("there is no such call");
    let told = told.downcast_ref::<String>().expect("it says so");
    assert!(told.starts_with("there is no call `make`"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_name_is_that_of_one_token() {
    let system = System::new();
    system.unique(|body| (*body > 10).then(|| body.to_string()));
    let taken = || Refused("the name 11 is taken".to_owned());
    assert_eq!(system.create("a", 11).await, made("id-1", 11));
    assert_eq!(system.create("b", 11).await, Err(taken()));
    assert_eq!(system.create("a", 11).await, made("id-2", 11), "this is another mistake");
    assert_eq!(system.create("b", 1).await, made("id-3", 1));
    assert_eq!(system.create("c", 1).await, made("id-4", 1), "it is no name");
    assert_eq!(system.update("id-3", 11).await, Err(taken()));
    for id in ["id-1", "id-2"] {
        assert_eq!(system.delete(id).await, Ok(Deletion::Gone));
    }
    assert_eq!(system.update("id-3", 11).await, Ok(11));
}

#[tokio::test(start_paused = true)]
async fn what_has_not_happened_yet_can_be_taken_back() {
    let system = System::new();
    system.lose_requests(2, "create").down_for(seconds(9)).latency(seconds(1));
    assert_eq!(system.create("a", 1).await, Err(Down));
    system.nothing_more_happens();
    assert_eq!(system.unfired(), [""; 0]);
    let begin = Instant::now();
    assert_eq!(system.create("a", 1).await, made("id-1", 1));
    assert_eq!(begin.elapsed(), seconds(1), "what it is like stays");
}
