//! Lists and watches that break, lag, lie or fall silent.

use integration_tests::prelude::*;
use operator_core::{
    client::TransportHook,
    environment::Environment,
    testing::faults::{End, LineFault, Match},
};

use super::{
    TestResource, keeper,
    life::{life, same_life, same_life_under},
    over, owner, rest, said, saying, scene, under,
};

pub(super) const PLURALS: [&str; 2] = ["configmaps", "testresources"];

/// The lists of an informer. The looks of a test ask for metadata only.
pub(super) fn informer_lists(plural: &'static str) -> Match {
    Rule::when(&format!("an informer's list of {plural}"), move |request| {
        let whole = |accept: &http::HeaderValue| {
            accept.to_str().is_ok_and(|accept| !accept.contains("PartialObjectMetadata"))
        };
        request.method == http::Method::GET
            && request.uri.path().ends_with(plural)
            && !request.uri.query().unwrap_or_default().contains("watch=")
            && request.headers.get(http::header::ACCEPT).is_none_or(whole)
    })
}

/// Counts requests and lets them pass.
pub(super) fn counted(which: Match) -> Rule {
    which.meanwhile(|_| async {})
}

#[tokio::test(start_paused = true)]
async fn f01_a_watch_that_ends_before_any_event_goes_on_there() -> Result<()> {
    for plural in PLURALS {
        for end in [End::Clean, End::Reset] {
            for event in 1..=5 {
                let lists = counted(informer_lists(plural));
                let ends = Rule::watch(plural).nth(event).event(LineFault::Close(end));
                same_life(&Faults::new([lists.clone(), ends]), 1).await?;
                assert_eq!(lists.fired(), 1, "{plural}, event {event}: resumed without another list");
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f01_a_watch_that_ends_before_every_other_event_misses_nothing() -> Result<()> {
    for plural in PLURALS {
        let lists = counted(informer_lists(plural));
        let ends = (1..=3).map(|time| Rule::watch(plural).nth(2 * time).event(LineFault::Close(End::Reset)));
        let faults = Faults::new(ends.chain([lists.clone()]));
        same_life(&faults, 1).await?;
        assert_eq!(lists.fired(), 1, "{plural}: resumed without another list");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f02_a_watch_that_falls_silent_is_noticed_within_two_minutes() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    // From its first event on nothing arrives, not even an end.
    let silent = Rule::watch("configmaps").nth(1).event(LineFault::Delay(Duration::from_secs(3600)));
    let watches = counted(Rule::watch("configmaps"));
    let faults = Faults::new([silent.clone(), watches.clone()]);
    let numbers = Numbers::default();
    let builder = scene.operator().environment(|| Environment::real().with_seed(1));
    let builder = builder.metrics(numbers.recorder()).transport(faults.hook());
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?)).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((silent.fired(), watches.fired()), (1, 1));
    let deleted = Instant::now();
    scene.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
    while scene.values().await?.len() < 2 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(deleted.elapsed() <= Duration::from_secs(120), "noticed after {:?}", deleted.elapsed());
    assert_eq!(numbers.value("watches_replaced_total", &[("event", "ConfigMap")]), 1.0);
    rest(&operator).await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(
        numbers.value("watches_replaced_total", &[]),
        1.0,
        "what the server ends in time is not silent"
    );
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f03_an_operator_whose_watches_lag_a_minute_behind_sees_its_own_writes() -> Result<()> {
    for plural in PLURALS {
        let lag = Rule::watch(plural).event(LineFault::Delay(Duration::from_secs(60)));
        same_life(&Faults::new([lag]), 2).await?;
        for events in 1..=5 {
            let held = Rule::watch(plural).nth(1).event(LineFault::Hold(events));
            same_life(&Faults::new([held]), 2).await?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f03_what_a_lagging_watch_has_not_shown_is_neither_made_twice_nor_deleted_nor_waited_for()
-> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let lag = Rule::watch("configmaps").event(LineFault::Delay(Duration::from_secs(60)));
    let faults = Faults::new([lag]);
    let workflow = workflow_of_one(node(counted_maps))?;
    let operator = under(&faults, &scene, scene.managed(&script, &workflow)).await?;
    operator.operator().synced().await;
    scene.create("one", "3 x").await?;
    let says = |words: &'static str| {
        move |one: &TestResource| {
            one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(words)
        }
    };
    for value in ["3 x", "1 x", "3 y", "2 y"] {
        let begin = Instant::now();
        scene.set("one", value).await?;
        scene.until(value, "one", says(value)).await?;
        assert!(begin.elapsed() < Duration::from_secs(5), "{value} waits for a watch: {:?}", begin.elapsed());
    }
    scene.until_values([("one-0", "y"), ("one-1", "y")]).await?;
    // By then the watch has shown all of it, one event in a minute.
    tokio::time::sleep(Duration::from_secs(1800)).await;
    rest(&operator).await?;
    let audit = scene.cluster.audit()?;
    let of_maps = || audit.iter().filter(|event| event.resource == "configmaps");
    let created = of_maps().filter(|event| event.code == 201).count();
    let deleted = of_maps().filter(|event| event.verb == "delete" && event.code == 200).count();
    assert_eq!((created, deleted), (3 + 2, 2 + 1), "as often as it was asked for");
    over(&operator, &scene, &["one"]).await
}

/// The garbage collector deletes the objects of a primary that is gone. A run that doesn't know this would create them
/// again, and be triggered again by their end.
#[tokio::test(start_paused = true)]
async fn f03_what_belonged_to_a_primary_that_went_unseen_is_not_made_anew() -> Result<()> {
    // Without a status there is no write of the primary that would find it gone.
    let quiet = || Script::new(|_, _, _| Box::pin(async { Ok(UpdateControl::no_update()) }));
    for (script, replaced) in [(saying(), false), (saying(), true), (quiet(), false), (quiet(), true)] {
        let scene = scene().await?;
        let faults =
            Faults::new([Rule::watch("testresources").event(LineFault::Delay(Duration::from_secs(60)))]);
        faults.off();
        let workflow = workflow_of_one(wanted_map("a"))?;
        let operator = under(&faults, &scene, scene.managed(&script, &workflow)).await?;
        scene.create("one", "first").await?;
        rest(&operator).await?;
        faults.on();
        let seen = scene.cluster.audit()?.len();
        scene.delete("one").await?;
        scene.until_values([]).await?;
        if replaced {
            scene.create("one", "second").await?;
        }
        tokio::time::sleep(Duration::from_secs(50)).await;
        let audit = scene.cluster.audit()?;
        let count = |verb: &str, resource: &str| {
            let since = audit.iter().skip(seen);
            since.filter(|event| event.verb == verb && event.resource == resource).count()
        };
        assert_eq!(count("patch", "configmaps"), 0, "made anew, replaced: {replaced}");
        assert!(count("get", "testresources") <= 2, "one look is enough, replaced: {replaced}");
        rest(&operator).await?;
        if replaced {
            scene.until_values([("one-a", "second")]).await?;
        }
        over(&operator, &scene, if replaced { &["one"] } else { &[] }).await?;
    }
    Ok(())
}

/// Makes the second watch of a plural begin some versions earlier than it was asked for, and counts the watches.
fn second_watch_earlier(plural: &'static str, begun: &Arc<AtomicUsize>) -> TransportHook {
    let begun = Arc::clone(begun);
    TransportHook::around(move |mut request, inner| {
        let uri = request.uri().to_string();
        let is_watch = request.uri().path().ends_with(plural) && uri.contains("watch=true");
        if is_watch && begun.fetch_add(1, Ordering::SeqCst) == 1 {
            let (before, after) =
                uri.split_once("resourceVersion=").expect("a watch that goes on names a version");
            let (version, rest) = after.split_at(after.find('&').unwrap_or(after.len()));
            let earlier = version.parse::<u64>().expect("a version is a number").saturating_sub(20).max(1);
            let uri = format!("{before}resourceVersion={earlier}{rest}");
            *request.uri_mut() = uri.parse().expect("it is still an address");
        }
        async move { inner.send(request).await }
    })
}

#[tokio::test(start_paused = true)]
async fn f04_a_watch_that_begins_again_earlier_is_not_believed() -> Result<()> {
    for plural in PLURALS {
        for event in 3..=5 {
            let ends = Rule::watch(plural).nth(event).event(LineFault::Close(End::Clean));
            let begun = Arc::new(AtomicUsize::new(0));
            same_life_under([second_watch_earlier(plural, &begun)], &Faults::new([ends]), 1).await?;
            assert!(begun.load(Ordering::SeqCst) > 1, "{plural}, event {event}: it began again");
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f05_events_that_come_twice_or_in_another_order_cost_one_more_run_at_most() -> Result<()> {
    let (_, calm) = life(&Faults::none()).await?;
    for plural in PLURALS {
        for event in 1..=5 {
            for fault in [LineFault::Duplicate, LineFault::Reorder] {
                let faults = Faults::new([Rule::watch(plural).nth(event).event(fault)]);
                let work = same_life(&faults, 1).await?;
                let (runs, calmly) = (work.runs, calm.runs);
                assert!(runs <= calmly + 1, "{runs} runs, calmly {calmly}: {plural}, event {event}, {fault}");
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f06_whichever_events_are_never_seen_a_list_makes_up_for_them() -> Result<()> {
    let lost = |plural: &str, name: &str| Rule::watch(plural).name(name).event(LineFault::Lose);
    let events = [
        ("configmaps", "one-a"),
        ("configmaps", "one-b"),
        ("testresources", "one"),
        ("testresources", "two"),
        ("testresources", "three"),
    ];
    for subset in 0..1_u32 << events.len() {
        let scene = scene().await?;
        let script = saying();
        let faults = Faults::none();
        let relists = PLURALS.map(Relist::of);
        let builder =
            relists.iter().fold(scene.operator(), |builder, relist| builder.transport(relist.hook()));
        let builder = builder.transport(faults.hook());
        // What looks at events has to be there when the watch is opened.
        for (bit, (plural, name)) in events.iter().enumerate() {
            if subset & (1 << bit) != 0 {
                faults.add(&lost(plural, name));
            }
        }
        faults.off();
        let operator = TestOperator::start(builder.register(keeper(&scene, &script)?)).await?;
        scene.create("one", "first").await?;
        scene.create("three", "first").await?;
        rest(&operator).await?;
        faults.on();
        let maps = scene.api::<ConfigMap>();
        let edit = json!({ "data": { "value": "edited" } });
        maps.patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
        maps.delete("one-b", &DeleteParams::default()).await?;
        scene.create("two", "first").await?;
        scene.set("one", "second").await?;
        scene.delete("three").await?;
        tokio::time::sleep(Duration::from_secs(20)).await;
        faults.off();
        relists.iter().for_each(Relist::cut);
        tokio::time::sleep(Duration::from_secs(5)).await;
        rest(&operator).await?;
        scene.until_gone("three").await?;
        let expected = [("one-a", "second"), ("one-b", "second"), ("two-a", "first"), ("two-b", "first")];
        assert_eq!(
            scene.values().await?,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            "lost: {subset:05b}"
        );
        over(&operator, &scene, &["one", "two"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f07_an_object_that_is_replaced_unseen_starts_afresh() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            anyhow::ensure!(primary.spec.value != "bad", "it is bad");
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let relist = Relist::of("testresources");
    let faults = Faults::new([Rule::watch("testresources").event(LineFault::Lose)]);
    faults.off();
    let builder = scene.operator().transport(relist.hook()).transport(faults.hook());
    let operator = TestOperator::start(builder.register(owner(&scene, &script)?)).await?;
    let old = scene.create("one", "bad").await?;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(
        script.runs.of("one").last().is_some_and(|run| run.attempt > Some(3)),
        "it fails again and again"
    );
    faults.on();
    scene.delete("one").await?;
    let new = scene.create("one", "good").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    faults.off();
    relist.cut();
    scene.until("its status", "one", |one| one.status.is_some()).await?;
    rest(&operator).await?;
    let runs = script.runs.of("one");
    let first = runs.iter().find(|run| Some(&run.uid) == new.metadata.uid.as_ref());
    assert_eq!(first.map(|run| run.attempt), Some(None), "it has nothing of its predecessor's");
    let last_of_old = runs.iter().rposition(|run| Some(&run.uid) == old.metadata.uid.as_ref());
    let first_of_new = runs.iter().position(|run| Some(&run.uid) == new.metadata.uid.as_ref());
    assert!(last_of_old < first_of_new, "the old one never runs again");
    over(&operator, &scene, &["one"]).await
}
