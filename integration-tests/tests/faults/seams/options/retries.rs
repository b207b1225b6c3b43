//! Errors that must not be retried, failures that a run handles, and a retry of the user's own.

use anyhow::anyhow;
use integration_tests::prelude::*;
use operator_core::{
    Cleaner, Context, Permanent, Run,
    environment::Now,
    processor::{Retry, RetryState},
};

use super::{TestResource, calm, gone_after, message, pass, scene, seconds, under};

const HOUR: u64 = 3600;

/// Fails where its primary's value says so: `invalid` can't be helped by trying again, `busy` can. What stands behind
/// `clean-up` is about the clean-up only.
#[derive(Clone, Debug, Default)]
struct Choosy {
    runs: RunRecord,
    cleanups: RunRecord,
}

fn work(value: &str) -> Result<(), BoxError> {
    match value {
        "invalid" => Err(Permanent::new("can't be helped").into()),
        "busy" => Err("try again".into()),
        _ => Ok(()),
    }
}

impl Cleaner for Choosy {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        primary: &TestResource,
        context: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        let _run = self.runs.begin(primary, context);
        work(&primary.spec.value)?;
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(
        &self,
        primary: &TestResource,
        context: &mut Context<TestResource>,
    ) -> Result<Removal, BoxError> {
        let _run = self.cleanups.begin(primary, context);
        work(primary.spec.value.trim_start_matches("clean-up "))?;
        Ok(Removal::Done)
    }
}

fn status(_: &TestResource, run: &Run<TestResource>) -> TestStatus {
    said(run.error().map_or_else(|| "well".to_owned(), |error| error.get_ref().to_string()))
}

#[tokio::test(start_paused = true)]
async fn an_error_that_the_reconciler_calls_hopeless_is_not_retried() -> Result<()> {
    let (scene, choosy) = (scene().await?, Choosy::default());
    let controller = Controller::builder(choosy.clone()).status(status).namespaces([&scene.namespace]);
    let operator = under(&calm(), &scene, controller.retry(GenericRetry::josdk())).await?;
    scene.create("hopeless", "invalid").await?;
    scene.create("hopeful", "busy").await?;
    pass(HOUR).await;
    let runs = |name: &str| choosy.runs.of(name).len();
    assert_eq!(runs("hopeful"), 6, "the first run and five retries");
    assert_eq!(runs("hopeless"), 1, "no retry");
    assert_eq!(message(&scene, "hopeless").await?.as_deref(), Some("can't be helped"), "the status");

    // An event leads to a run, and so does the maximum interval.
    scene.set("hopeless", "well").await?;
    pass(60).await;
    assert_eq!((runs("hopeless"), message(&scene, "hopeless").await?), (2, Some("well".to_owned())));
    scene.set("hopeless", "invalid").await?;
    pass(HOUR).await;
    assert_eq!(runs("hopeless"), 3, "the change, and no retry");
    pass(10 * HOUR).await;
    assert_eq!(runs("hopeless"), 4, "the maximum interval");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_clean_up_that_the_reconciler_calls_hopeless_is_not_retried() -> Result<()> {
    let (scene, choosy) = (scene().await?, Choosy::default());
    let controller = Controller::builder(choosy.clone()).namespaces([&scene.namespace]);
    let operator = under(&calm(), &scene, controller.retry(GenericRetry::josdk())).await?;
    for (name, value) in [("hopeless", "clean-up invalid"), ("hopeful", "clean-up busy")] {
        scene.create(name, value).await?;
        pass(60).await;
        scene.delete(name).await?;
    }
    pass(HOUR).await;
    assert_eq!(choosy.cleanups.of("hopeful").len(), 6, "the first clean-up and five retries");
    assert_eq!(choosy.cleanups.of("hopeless").len(), 1, "no retry");
    scene.set("hopeless", "well").await?;
    assert_eq!(gone_after(&scene, "hopeless").await?, Some(0), "a change leads to a further clean-up");
    operator.stop().await;
    Ok(())
}

/// Why a run fails.
type Why = fn() -> anyhow::Error;

/// A user's own error.
#[derive(Debug)]
struct Own(BoxError);

impl std::fmt::Display for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it fails")
    }
}

impl std::error::Error for Own {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_says_so_ends_the_retries() -> Result<()> {
    let controls: [(&str, Why, usize); 5] = [
        ("its own", || Own("no luck".into()).into(), 6),
        ("with its context", || anyhow!("no luck").context("it fails"), 6),
        ("permanent", || Permanent::new("it fails").into(), 1),
        ("permanent, with its context", || anyhow!(Permanent::new("no luck")).context("it fails"), 1),
        ("permanent, in its own", || Own(Permanent::new("no luck").into()).into(), 1),
    ];
    for (what, why, expected) in controls {
        let (scene, script) = (scene().await?, Script::failing(why));
        let script = script.on_error(|_, _, error| said(error.to_string()));
        let controller = scene.controller(&script).retry(GenericRetry::josdk());
        let operator = under(&calm(), &scene, controller).await?;
        scene.create("one", "value").await?;
        pass(HOUR).await;
        assert_eq!(script.runs.count(), expected, "{what}: runs in an hour");
        assert_eq!(message(&scene, "one").await?.as_deref(), Some("it fails"), "{what}");
        pass(10 * HOUR).await;
        assert!(script.runs.count() > expected, "{what}: the maximum interval leads to a further one");
        operator.stop().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_run_that_deals_with_its_failure_and_asks_for_another_one_is_no_retry() -> Result<()> {
    let minute = Duration::from_secs(60);
    let script = Script::new(move |_, _: Arc<TestResource>, _| {
        Box::pin(async move {
            let Err(_) = work("busy") else { return Ok(UpdateControl::no_update()) };
            Ok(UpdateControl::no_update().reschedule_after(minute))
        })
    });
    let scene = scene().await?;
    let operator = under(&calm(), &scene, scene.controller(&script)).await?;
    let begin = Instant::now();
    scene.create("one", "value").await?;
    pass(270).await;
    assert_eq!(seconds(&script.runs, "one", begin), [0, 60, 120, 180, 240]);
    let attempts: Vec<_> = script.runs.of("one").iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [None; 5], "each is a first attempt");
    operator.stop().await;
    Ok(())
}

/// A retry of the user's own: after these delays in seconds, and after each failure of the server in the time given last.
#[derive(Debug)]
struct Pauses {
    delays: &'static [u64],
    of_the_server: Duration,
}

impl Retry for Pauses {
    fn begin(&self) -> RetryState {
        RetryState::new(Duration::ZERO)
    }

    fn next_delay(&self, state: &mut RetryState, now: Now) -> Option<Duration> {
        let delay = Duration::from_secs(*self.delays.get(state.attempt as usize)?);
        *state = RetryState { attempt: state.attempt + 1, interval: delay, last_call: Some(now) };
        Some(delay)
    }

    fn is_last(&self, state: &RetryState) -> bool {
        state.attempt as usize == self.delays.len()
    }

    fn server_delay(&self, state: &mut RetryState, now: Now) -> Duration {
        *state = RetryState { attempt: 0, interval: self.of_the_server, last_call: Some(now) };
        self.of_the_server
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_of_the_users_own_says_when_and_how_often() -> Result<()> {
    let scene = scene().await?;
    let last = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&last);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let info = context.retry_info().copied();
        noted.lock().push(info.map(|retry| (retry.attempt, retry.last_attempt)));
        Box::pin(async move {
            anyhow::ensure!(primary.spec.value == "good", "it fails");
            Ok(UpdateControl::no_update())
        })
    });
    let retry = Pauses { delays: &[7, 1, 40], of_the_server: Duration::ZERO };
    let operator = under(&calm(), &scene, scene.controller(&script).retry(retry)).await?;
    let begin = Instant::now();
    scene.create("one", "bad").await?;
    pass(1000).await;
    assert_eq!(seconds(&script.runs, "one", begin), [0, 7, 8, 48]);
    let expected = [None, Some((1, false)), Some((2, false)), Some((3, true))];
    assert_eq!(*last.lock(), expected, "attempts, and whether each is the last");

    // A success begins anew.
    scene.set("one", "good").await?;
    pass(1000).await;
    scene.set("one", "bad again").await?;
    pass(10).await;
    assert_eq!(seconds(&script.runs, "one", begin)[4..], [1000, 2000, 2007, 2008]);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_retry_of_the_users_own_says_when_a_failure_of_the_server_is_tried_again() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, _: Arc<TestResource>, _| Box::pin(async { Ok(Said::status(said("well"))) }));
    let faults = Faults::new([Rule::writes().status(StatusAnswer::internal())]);
    let retry = Pauses { delays: &[1], of_the_server: Duration::from_secs(100) };
    let operator = under(&faults, &scene, scene.controller(&script).retry(retry)).await?;
    let begin = Instant::now();
    scene.create("one", "value").await?;
    pass(1000).await;
    let runs = seconds(&script.runs, "one", begin);
    // By chance each is up to a tenth shorter.
    assert!((11..=12).contains(&runs.len()), "{runs:?}");
    assert!(runs.windows(2).all(|two| (90..=100).contains(&(two[1] - two[0]))), "{runs:?}");
    operator.stop().await;
    Ok(())
}
