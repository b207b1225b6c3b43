//! Panics in the parts of user code besides reconcile: clean-ups, bulks, policies, filters, callbacks.

use integration_tests::prelude::*;
use operator_core::{
    environment::Now,
    processor::{Admission, KeyLimit, RateLimiter, Retry, RetryState},
};

use super::{Script, TestResource, over, owner, patient, rest, said, saying, scene};
use crate::replica::{declared, election, until_leading};

fn says(value: &str) -> impl Fn(&TestResource) -> bool {
    move |one| one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(value)
}

/// Panics the first two times.
#[derive(Clone, Debug, Default)]
struct Unlucky(Arc<AtomicUsize>);

impl Unlucky {
    fn try_it(&self, what: &str) {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) >= 2, "no luck in {what}");
    }

    fn tried(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Others are served at once, while `bad` fails.
async fn others_go_on(scene: &Scene, what: &str) -> Result<()> {
    scene.create("good", "good").await?;
    let served = scene.until("its turn", "good", says("good"));
    assert!(tokio::time::timeout(Duration::from_secs(1), served).await.is_ok(), "others wait for {what}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f20_a_panic_in_a_clean_up_keeps_the_finalizer_and_is_tried_again() -> Result<()> {
    let scene = scene().await?;
    let unlucky = Unlucky::default();
    let tried = unlucky.clone();
    let script = saying().cleanup(move |_, primary: Arc<TestResource>, _| {
        if primary.name_any() == "bad" {
            tried.try_it("the clean-up");
        }
        Box::pin(async { Ok(Removal::Done) })
    });
    let numbers = Numbers::default();
    let controller = owner(&scene, &script)?.cleaner(true).max_concurrent_reconciles(1);
    let builder = scene.operator().metrics(numbers.recorder());
    let operator = TestOperator::start(builder.register(controller)).await?;
    scene.create("bad", "bad").await?;
    scene.until("its status", "bad", says("bad")).await?;
    scene.delete("bad").await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let kept = scene.resources.get("bad").await?;
    assert!(!kept.finalizers().is_empty(), "nothing was cleaned up");
    others_go_on(&scene, "a clean-up").await?;
    scene.until_gone("bad").await?;
    rest(&operator).await?;
    assert_eq!(script.cleanups.of("bad").len(), 3, "two have failed");
    assert_eq!(numbers.value("reconciler_panics_total", &[]), 2.0, "each is counted");
    assert_eq!(script.runs.of("good").len(), 1);
    over(&operator, &scene, &["good"]).await
}

#[tokio::test(start_paused = true)]
async fn f20_a_panic_in_what_a_bulk_desires_is_that_primary_s_failure_alone() -> Result<()> {
    let scene = scene().await?;
    let (script, unlucky) = (saying(), Unlucky::default());
    let tried = unlucky.clone();
    // Two maps of each primary; it panics twice for the one called `bad`.
    let two = move |primary: &TestResource| -> Vec<ConfigMap> {
        if primary.name_any() == "bad" {
            tried.try_it("a bulk");
        }
        ["a", "b"].map(|suffix| map_of(primary, suffix, &primary.spec.value)).into()
    };
    let workflow = workflow_of_one(node(two).named("two"))?;
    let numbers = Numbers::default();
    let controller = scene.managed(&script, &workflow).retry(patient()?).max_concurrent_reconciles(1);
    let builder = scene.operator().metrics(numbers.recorder());
    let operator = TestOperator::start(builder.register(controller)).await?;
    scene.create("bad", "bad").await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    others_go_on(&scene, "a bulk").await?;
    scene.until("the end of bad luck", "bad", says("bad")).await?;
    rest(&operator).await?;
    let all = [("bad-a", "bad"), ("bad-b", "bad"), ("good-a", "good"), ("good-b", "good")];
    scene.until_values(all).await?;
    assert_eq!(numbers.value("reconciler_panics_total", &[]), 2.0, "each is counted");
    assert_eq!(numbers.value("reconciliations_failure_total", &[]), 2.0, "and a failed run");
    over(&operator, &scene, &["bad", "good"]).await
}

impl Retry for Unlucky {
    fn begin(&self) -> RetryState {
        GenericRetry::default().begin()
    }

    fn next_delay(&self, state: &mut RetryState, now: Now) -> Option<Duration> {
        self.try_it("a retry");
        GenericRetry::default().next_delay(state, now)
    }

    fn is_last(&self, state: &RetryState) -> bool {
        GenericRetry::default().is_last(state)
    }
}

#[derive(Debug)]
struct NoLimit(Unlucky);

impl KeyLimit for NoLimit {
    fn admit(&mut self, _: Now) -> Admission {
        self.0.try_it("a rate limit");
        Admission::Admitted
    }
}

impl RateLimiter for Unlucky {
    fn for_key(&self, _: Now) -> Box<dyn KeyLimit> {
        Box::new(NoLimit(self.clone()))
    }
}

/// They are called by the task that decides about all primaries: nothing is decided without it.
#[tokio::test(start_paused = true)]
async fn f20_a_panic_in_a_retry_or_a_rate_limiter_stops_its_controller() -> Result<()> {
    for limits in [false, true] {
        let scene = scene().await?;
        let unlucky = Unlucky::default();
        let script = Script::new(|_, primary: Arc<TestResource>, _| {
            Box::pin(async move {
                ensure!(primary.name_any() != "bad", "not yet");
                Ok(Said::status(said(primary.spec.value.clone())))
            })
        });
        let controller = script.controller().namespaces([&scene.namespace]);
        let controller = match limits {
            true => controller.rate_limiter(unlucky.clone()),
            false => controller.retry(unlucky.clone()),
        };
        scene.failures.allow("not yet");
        let (log, _capture) = LogText::start();
        let operator = TestOperator::start(scene.operator().register(controller)).await?;
        scene.create("bad", "bad").await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        scene.create("good", "good").await?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(unlucky.tried(), 1, "limits: {limits}");
        assert_eq!(script.runs.of("good").len(), 0, "limits: {limits}");
        assert!(log.text().contains("the controller has stopped: its retry or rate limiter panicked"));
        operator.stop().await;
    }
    Ok(())
}

/// A change that can't be judged counts.
#[tokio::test(start_paused = true)]
async fn f20_a_filter_that_panics_lets_the_change_through() -> Result<()> {
    let scene = scene().await?;
    let (script, primaries, secondaries) = (saying(), Unlucky::default(), Unlucky::default());
    let (of_primaries, of_secondaries) = (primaries.clone(), secondaries.clone());
    let source = InformerEventSource::<ConfigMap>::new()
        .map_to_primary(|map| vec![operator_core::ObjectKey::of(map)])
        .on_update(move |map, _| {
            of_secondaries.try_it("a filter of secondaries");
            value_of(map) == Some("of interest")
        });
    let controller =
        script.controller().watches(source).namespaces([&scene.namespace]).on_update(move |primary, _| {
            of_primaries.try_it("a filter of primaries");
            primary.spec.value == "of interest"
        });
    let operator = TestOperator::start(scene.operator().register(controller)).await?;
    scene.create("one", "first").await?;
    let map: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": "one" } }))?;
    scene.api::<ConfigMap>().create(&Default::default(), &map).await?;
    rest(&operator).await?;
    let (before, changed) = (script.runs.count(), primaries.tried());
    assert!(before >= 1);
    // The filter of primaries has been asked about their own status already; the third question is answered.
    for (value, runs) in
        [("a", usize::from(changed < 2)), ("b", usize::from(changed < 1)), ("c", 0), ("of interest", 1)]
    {
        let before = script.runs.count();
        scene.set("one", value).await?;
        rest(&operator).await?;
        assert_eq!(
            script.runs.count() - before,
            runs,
            "a primary with {value}, asked {changed} times before"
        );
    }
    for (value, runs) in [("a", 1), ("b", 1), ("c", 0), ("of interest", 1)] {
        let before = script.runs.count();
        let edit = json!({ "data": { "value": value } });
        scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &Patch::Merge(edit)).await?;
        rest(&operator).await?;
        assert_eq!(script.runs.count() - before, runs, "a map with {value}");
    }
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f20_callbacks_of_an_election_that_panic_cost_no_lease_and_no_run() -> Result<()> {
    let scene = scene().await?;
    let called = Arc::new(AtomicUsize::new(0));
    let panics = || {
        let called = Arc::clone(&called);
        move || {
            called.fetch_add(1, Ordering::Relaxed);
            panic!("no luck in a callback")
        }
    };
    let (begins, ends, hears) = (panics(), panics(), panics());
    let election = election(&scene, "only").on_start_leading(begins).on_stop_leading(ends);
    let election = election.on_new_leader(move |_| hears());
    let script = saying();
    let builder = declared(&scene, "only", election)?.register(owner(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    until_leading(operator.operator()).await?;
    scene.create("one", "first").await?;
    let served = scene.until("its status", "one", says("first"));
    assert!(tokio::time::timeout(Duration::from_secs(1), served).await.is_ok(), "it leads, and runs nothing");
    // Some terms later it still leads.
    tokio::time::sleep(Duration::from_secs(120)).await;
    scene.set("one", "second").await?;
    scene.until("its status", "one", says("second")).await?;
    assert_eq!(called.load(Ordering::Relaxed), 2, "that it leads, and who does");
    over(&operator, &scene, &["one"]).await?;
    assert_eq!(called.load(Ordering::Relaxed), 3, "that it leads no more");
    let holder = crate::replica::lease(&scene).await?.0;
    assert_eq!(holder, "", "the lease is given back");
    Ok(())
}
