//! Requests that are answered badly, or not at all.

use std::sync::atomic::AtomicU64;

use integration_tests::prelude::*;
use operator_core::testing::faults::{Fault, LineFault};

use super::{
    erring, keeper,
    life::{same_life, writes},
    over, rest, saying, scene, under,
};

/// The moments at which requests that `which` names were sent.
fn moments(which: operator_core::testing::faults::Match) -> (Rule, Arc<Mutex<Vec<Instant>>>) {
    let moments = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&moments);
    let rule = which.meanwhile(move |_| {
        noted.lock().push(Instant::now());
        async {}
    });
    (rule, moments)
}

#[tokio::test(start_paused = true)]
async fn f11_a_conflict_of_any_write_is_read_anew_and_tried_again() -> Result<()> {
    for write in 1..=writes().await? {
        let conflict = Rule::writes().nth(write).status(StatusAnswer::conflict());
        same_life(&Faults::new([conflict]), 4).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f11_a_conflict_that_does_not_end_is_no_hot_loop() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let conflicts = Rule::writes().subresource("status").status(StatusAnswer::conflict());
    let faults = Faults::new([conflicts.clone()]);
    let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    // Ten attempts in each run, and no more than about thirty runs: their delays grow to half a minute.
    assert!((10..400).contains(&conflicts.fired()), "{} attempts in ten minutes", conflicts.fired());
    assert!(script.runs.count() < 40, "{} runs in ten minutes", script.runs.count());
    faults.off();
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f13_a_server_that_asks_for_patience_gets_it() -> Result<()> {
    for seconds in [1, 30] {
        let busy = || StatusAnswer::too_many_requests(seconds);
        let (lists, listed) = moments(Rule::on(Verb::List).resource("configmaps").first(4));
        let (watches, watched) = moments(Rule::watch("configmaps").first(4));
        let faults = Faults::new([
            lists,
            watches,
            Rule::on(Verb::List).resource("configmaps").first(3).status(busy()),
            Rule::watch("configmaps").first(3).status(busy()),
        ]);
        same_life(&faults, 0).await?;
        // The first write is that of the finalizer, so each refusal is the end of its run.
        let (writes, written) = moments(Rule::writes().first(4));
        same_life(&Faults::new([writes, Rule::writes().first(3).status(busy())]), 3).await?;
        for moments in [&listed, &watched, &written] {
            assert_eq!(moments.lock().len(), 4);
            for pair in moments.lock().windows(2) {
                let wait = pair[1] - pair[0];
                assert!(wait >= Duration::from_secs(seconds), "asked again after {wait:?}, not {seconds} s");
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f13_neither_a_retry_nor_an_event_leads_to_a_write_before_the_server_is_ready() -> Result<()> {
    for unavailable in [false, true] {
        let busy = if unavailable {
            StatusAnswer::unavailable().retry_after(30)
        } else {
            StatusAnswer::too_many_requests(30)
        };
        let scene = scene().await?;
        let script = saying();
        let (writes, written) = moments(Rule::writes());
        // That of the status, after those of the finalizer and two config maps.
        let faults = Faults::new([writes, Rule::writes().subresource("status").first(1).status(busy)]);
        let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
        scene.create("one", "first").await?;
        tokio::time::sleep(Duration::from_secs(5)).await;
        let refused = written.lock().len();
        assert_eq!(refused, 4);
        for value in ["second", "third"] {
            scene.set("one", value).await?;
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        rest(&operator).await?;
        let waited = {
            let written = written.lock();
            written[refused] - written[refused - 1]
        };
        assert!(waited >= Duration::from_secs(30), "written again after {waited:?}");
        assert!(waited < Duration::from_secs(31), "written again only after {waited:?}");
        assert_eq!(script.runs.count(), 2, "any number of events is one run");
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

/// Deterministic chance: true for three out of ten, evenly mixed.
fn three_in_ten() -> impl Fn(&http::request::Parts) -> bool + Send + Sync + 'static {
    let count = AtomicU64::new(0);
    move |_| {
        let mixed = count.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) % 10 < 3
    }
}

/// 500, 502, 503 and 504.
fn errors() -> [StatusAnswer; 4] {
    [
        StatusAnswer::internal(),
        StatusAnswer::new(502, "BadGateway", "bad gateway"),
        StatusAnswer::unavailable(),
        StatusAnswer::timeout(),
    ]
}

#[tokio::test(start_paused = true)]
async fn f14_errors_of_the_server_are_retried_and_writes_take_effect_once() -> Result<()> {
    // Thirty requests fail, three of ten each time: with one of the errors, or with all of them in turn, of which every other
    // one comes after the request took effect.
    for answer in errors() {
        let faults =
            Faults::new([Rule::when("three of ten", three_in_ten()).first(30).status(answer.clone())]);
        same_life(&faults, 30).await?;
    }
    let mixed = (0..30).map(|number: u64| {
        let answer = errors()[usize::try_from(number % 4).unwrap_or_default()].clone();
        let one = Rule::when("three of ten", three_in_ten()).nth(number + 1);
        if number.is_multiple_of(2) { one.status(answer) } else { one.fault(Fault::StatusAfter(answer)) }
    });
    same_life(&Faults::new(mixed), 30).await?;
    Ok(())
}

/// How often requests are sent, while nothing but errors is answered for ten minutes.
#[tokio::test(start_paused = true)]
async fn f14_the_waits_between_attempts_grow_to_a_cap() -> Result<()> {
    for answer in errors() {
        let scene = scene().await?;
        let script = saying();
        let (writes, written) = moments(Rule::writes());
        let (lists, listed) = moments(Rule::on(Verb::List).resource("configmaps"));
        let (watches, watched) = moments(Rule::watch("configmaps"));
        let gone = Rule::watch("configmaps").nth(1).event(LineFault::Gone);
        let faults = Faults::new([writes, lists, watches, gone, Rule::any().status(answer.clone())]);
        faults.off();
        let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
        operator.operator().synced().await;
        scene.create("one", "first").await?;
        rest(&operator).await?;
        faults.on();
        // One event ends the watch of the maps; the other is work for the primary.
        let edit = json!({ "metadata": { "labels": { "by": "hand" } } });
        scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
        scene.set("one", "second").await?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        for (what, moments) in [("lists and watches", [&listed, &watched]), ("writes", [&written, &written])]
        {
            let mut moments: Vec<Instant> =
                moments.iter().flat_map(|moments| moments.lock().clone()).collect();
            moments.sort_unstable();
            moments.dedup();
            let waits: Vec<u64> = moments.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
            // The longest of them is half a minute, or forty-five seconds with its spread.
            assert!((14..=60).contains(&waits.len()), "{what} after {answer:?}: {waits:?}");
            let last = waits.iter().rev().take(8);
            assert!(last.clone().all(|wait| (10..=60).contains(wait)), "{what} after {answer:?}: {waits:?}");
        }
        faults.off();
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f14_a_write_that_took_effect_and_was_answered_504_is_not_repeated_blindly() -> Result<()> {
    for write in 1..=writes().await? {
        let late = Rule::writes().nth(write).fault(Fault::StatusAfter(StatusAnswer::timeout()));
        same_life(&Faults::new([late]), 4).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f15_a_connection_that_is_reset_after_any_write_took_effect_changes_nothing() -> Result<()> {
    for write in 1..=writes().await? {
        same_life(&Faults::new([Rule::writes().nth(write).answer_lost()]), 4).await?;
    }
    Ok(())
}

/// The cache shows the former state, and the event that would correct it triggers nothing, because it changes only the status.
#[tokio::test(start_paused = true)]
async fn f15_a_status_that_was_written_unheard_is_corrected_though_the_cache_shows_the_wanted_one()
-> Result<()> {
    let lost = || Rule::writes().resource("testresources").subresource("status").nth(1);
    for fault in [
        lost().answer_lost(),
        lost().fault(Fault::StatusAfter(StatusAnswer::timeout())),
        lost().fault(Fault::HangAfter),
    ] {
        let scene = scene().await?;
        let (script, errs) = erring();
        let late = Rule::watch("testresources").event(LineFault::Delay(Duration::from_secs(60)));
        let faults = Faults::new([fault.clone(), late]);
        faults.off();
        let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
        scene.create("one", "first").await?;
        rest(&operator).await?;
        faults.on();
        errs.store(true, Ordering::Relaxed);
        let edit = json!({ "data": { "value": "edited" } });
        scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
        rest(&operator).await?;
        assert_eq!(fault.fired(), 1);
        let status = scene.resources.get("one").await?.status.and_then(|status| status.message);
        assert_eq!(status.as_deref(), Some("right"), "{fault:?}");
        faults.off();
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f18_any_write_that_is_never_answered_ends_by_its_deadline_and_is_retried() -> Result<()> {
    for write in 1..=writes().await? {
        same_life(&Faults::new([Rule::writes().nth(write).fault(Fault::Hang)]), 4).await?;
        same_life(&Faults::new([Rule::writes().nth(write).fault(Fault::HangAfter)]), 4).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f18_a_list_or_watch_that_is_never_answered_is_asked_for_again() -> Result<()> {
    for plural in ["configmaps", "testresources"] {
        same_life(&Faults::new([Rule::on(Verb::List).resource(plural).nth(1).fault(Fault::Hang)]), 0).await?;
        same_life(&Faults::new([Rule::watch(plural).nth(1).fault(Fault::Hang)]), 0).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f18_a_worker_whose_request_hangs_is_free_again_within_its_deadline() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let hangs = Rule::writes().subresource("status").name("one").first(1).fault(Fault::Hang);
    let faults = Faults::new([hangs.clone()]);
    let controller = keeper(&scene, &script)?.max_concurrent_reconciles(1);
    let operator = under(&faults, &scene, controller).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let waits = Instant::now();
    scene.create("two", "first").await?;
    scene.until("its turn", "two", |two| two.status.is_some()).await?;
    assert!(waits.elapsed() <= operator_core::bench::REQUEST_DEADLINE, "{:?}", waits.elapsed());
    rest(&operator).await?;
    assert_eq!(hangs.fired(), 1);
    over(&operator, &scene, &["one", "two"]).await
}
