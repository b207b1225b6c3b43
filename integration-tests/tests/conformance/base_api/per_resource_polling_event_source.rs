//! Another system is asked for each primary at intervals of its own; a new answer triggers that primary. For a primary
//! that is gone it isn't asked any more, while the others continue.

use integration_tests::prelude::*;
use operator_core::{
    PerResourcePollingEventSource,
    cache::Bounds,
    event_source::ExternalResource,
    observe::{Cause, SourceIndex},
};

const PERIOD: Duration = Duration::from_millis(100);

/// Another one with each answer.
#[derive(Clone, Debug, PartialEq)]
struct Answer(usize);

impl ExternalResource for Answer {
    type Id = ();

    fn id(&self) {}
}

#[operator_test]
async fn each_is_polled_and_run_again_until_it_is_gone() -> Result<()> {
    let scene = Scene::new("per-resource-polling").await?;
    let asked = Arc::new(Mutex::new(BTreeMap::<String, usize>::new()));
    let counts = Arc::clone(&asked);
    let source = PerResourcePollingEventSource::new("answers", PERIOD, move |one: Arc<TestResource>| {
        let mut counts = counts.lock();
        let times = counts.entry(one.name_any()).or_default();
        *times += 1;
        let answer = Answer(*times);
        async move { Ok::<_, anyhow::Error>(vec![answer]) }
    });
    let seen = Arc::new(Mutex::new(BTreeMap::<String, Vec<usize>>::new()));
    let sees = Arc::clone(&seen);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let answers = context.external::<Answer>();
        sees.lock().entry(primary.name_any()).or_default().extend(answers.first().map(|answer| answer.0));
        Box::pin(async { Ok(operator_core::UpdateControl::no_update()) })
    });
    let operator = scene.start(scene.controller(&script).watches(source)).await?;
    let begun = Instant::now();
    scene.create("one", "value").await?;
    scene.create("two", "value").await?;
    let times = |name: &str| asked.lock().get(name).copied().unwrap_or_default();
    eventually("three polls and runs of each", async || {
        let enough = |name: &&str| times(name) > 2 && script.runs.of(name).len() > 2;
        Ok(["one", "two"].iter().all(enough).then_some(()))
    })
    .await?;
    let (polls, periods) = (times("one") as u128, begun.elapsed().as_millis() / PERIOD.as_millis());
    assert!(polls <= periods, "{polls} polls in {periods} periods");
    let by_the_poll = script.runs.of("one").into_iter().skip(1);
    let expected = Cause::Source(SourceIndex(0)).into();
    assert!(by_the_poll.clone().all(|run| run.causes == expected), "{:?}", by_the_poll.collect::<Vec<_>>());
    for (name, answers) in &*seen.lock() {
        assert!(answers.is_sorted() && answers.len() > 1, "{name} has read {answers:?}");
    }

    scene.delete("two").await?;
    scene.until_gone("two").await?;
    // The operator is told a moment later.
    eventually("the end of the second one's polls", async || {
        let (before, of_one) = (times("two"), times("one"));
        eventually("a further poll", async || Ok((times("one") > of_one + 1).then_some(()))).await?;
        Ok((times("two") == before).then_some(()))
    })
    .await?;
    let (one, two, runs) = (times("one"), times("two"), script.runs.of("two").len());
    eventually("further polls", async || Ok((times("one") > one + 5).then_some(()))).await?;
    assert_eq!((times("two"), script.runs.of("two").len()), (two, runs), "it is asked for no more");
    operator.stop().await;
    Ok(())
}

/// A controller that holds none, or one, of its primaries in full.
#[operator_test]
async fn primaries_that_are_not_held_in_full_are_polled_if_the_predicate_says_so() -> Result<()> {
    const NAMES: [&str; 4] = ["one", "two", "three", "unpolled"];
    for objects in [0, 1] {
        let scene = Scene::new(&format!("per-resource-bounded-{objects}")).await?;
        for name in NAMES {
            scene.create(name, name).await?;
        }
        let asked = Arc::new(Mutex::new(BTreeMap::<String, usize>::new()));
        let counts = Arc::clone(&asked);
        let source = PerResourcePollingEventSource::new("answers", PERIOD, move |one: Arc<TestResource>| {
            *counts.lock().entry(one.name_any()).or_default() += 1;
            async { Ok::<_, anyhow::Error>(vec![Answer(0)]) }
        });
        let source = source.poll_when(|one: &TestResource| one.value() != "unpolled");
        let bounds = Bounds::new(objects).with_template(TestResource::named("template", "unpolled"));
        let script = Script::idle();
        let controller = scene.controller(&script).bounded(bounds).watches(source);
        let operator = scene.start(controller).await?;
        let polled = || asked.lock().clone();
        eventually("three polls of each", async || {
            let enough = |name: &&str| polled().get(*name).is_some_and(|times| *times > 2);
            Ok(NAMES[..3].iter().all(enough).then_some(()))
        })
        .await?;
        assert_eq!(polled().get("unpolled"), None);
        scene.set("unpolled", "polled").await?;
        scene.set("one", "unpolled").await?;
        eventually("a poll of the one, and the end of the other's", async || {
            let before = polled();
            eventually("further polls", async || Ok((polled()["three"] > before["three"] + 5).then_some(())))
                .await?;
            let after = polled();
            let ended = before.get("one") == after.get("one");
            Ok((ended && after.contains_key("unpolled")).then_some(()))
        })
        .await?;
        operator.stop().await;
    }
    Ok(())
}
