//! A reconciler's word on its own errors, an error status that ends the retries, and a retry of the user's own.

use std::{error::Error as StdError, io, sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{RunRecord, Script, said};
use operator_core::{
    Cleaner, Context, Controller, DeleteControl, ErrorStatusUpdateControl, Reconciler, UpdateControl,
    environment::Now,
    processor::{Retry, RetryState},
    testing::faults::{Faults, Rule, StatusAnswer},
};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{TestResource, calm, gone_after, message, pass, scene, seconds, under};

const HOUR: u64 = 3600;

/// Fails where its primary's value says so: `invalid` can't be helped by trying again, `busy` can. What stands behind
/// `clean-up` is about the clean-up only.
#[derive(Clone, Debug, Default)]
struct Choosy {
    runs: RunRecord,
    cleanups: RunRecord,
}

fn work(value: &str) -> io::Result<()> {
    match value {
        "invalid" => Err(io::Error::new(io::ErrorKind::InvalidInput, "can't be helped")),
        "busy" => Err(io::Error::other("try again")),
        _ => Ok(()),
    }
}

impl Reconciler for Choosy {
    type Primary = TestResource;
    type Error = io::Error;

    async fn reconcile(
        &self,
        primary: Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> io::Result<UpdateControl<TestResource>> {
        let _run = self.runs.begin(&*primary, context);
        work(&primary.spec.value)?;
        Ok(UpdateControl::patch_status(said("well")))
    }

    async fn update_error_status(
        &self,
        _: Arc<TestResource>,
        _: &Context<TestResource>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> ErrorStatusUpdateControl<TestResource> {
        ErrorStatusUpdateControl::patch_status(said(error.to_string()))
    }

    fn is_retryable(&self, error: &io::Error) -> bool {
        error.kind() != io::ErrorKind::InvalidInput
    }
}

impl Cleaner for Choosy {
    async fn cleanup(
        &self,
        primary: Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> io::Result<DeleteControl> {
        let _run = self.cleanups.begin(&*primary, context);
        work(primary.spec.value.trim_start_matches("clean-up "))?;
        Ok(DeleteControl::default_delete())
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_the_reconciler_calls_hopeless_is_not_retried() -> Result<()> {
    let (scene, choosy) = (scene().await?, Choosy::default());
    let controller = Controller::builder(choosy.clone()).namespaces([&scene.namespace]);
    let operator = under(&calm(), &scene, controller).await?;
    scene.create("hopeless", "invalid").await?;
    scene.create("hopeful", "busy").await?;
    pass(HOUR).await;
    let runs = |name: &str| choosy.runs.of(name).len();
    assert_eq!(runs("hopeful"), 6, "the first run and five retries");
    assert_eq!(runs("hopeless"), 1, "no retry");
    assert_eq!(message(&scene, "hopeless").await?.as_deref(), Some("can't be helped"), "the error status");

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
    let controller = Controller::builder(choosy.clone()).with_cleaner().namespaces([&scene.namespace]);
    let operator = under(&calm(), &scene, controller).await?;
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

/// Always fails, and says this about it.
fn failing(control: impl Fn() -> ErrorStatusUpdateControl<TestResource> + Send + Sync + 'static) -> Script {
    let script = Script::new(|_, _: Arc<TestResource>, _| Box::pin(async { anyhow::bail!("it fails") }));
    script.on_error(move |_, _, _| control())
}

/// What to do about an error.
type Control = fn() -> ErrorStatusUpdateControl<TestResource>;

#[tokio::test(start_paused = true)]
async fn an_error_status_with_no_retry_ends_the_retries() -> Result<()> {
    let controls: [(&str, Control, usize); 5] = [
        ("default", ErrorStatusUpdateControl::default_processing, 6),
        ("handled", ErrorStatusUpdateControl::no_status_update, 6),
        ("default, no retry", || ErrorStatusUpdateControl::default_processing().with_no_retry(), 1),
        ("handled, no retry", || ErrorStatusUpdateControl::no_status_update().with_no_retry(), 1),
        ("status, no retry", || ErrorStatusUpdateControl::patch_status(said("it fails")).with_no_retry(), 1),
    ];
    for (what, control, expected) in controls {
        let (scene, script) = (scene().await?, failing(control));
        let operator = under(&calm(), &scene, scene.controller(&script)).await?;
        scene.create("one", "value").await?;
        pass(HOUR).await;
        assert_eq!(script.runs.count(), expected, "{what}: runs in an hour");
        pass(10 * HOUR).await;
        assert!(script.runs.count() > expected, "{what}: the maximum interval leads to a further one");
        operator.stop().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_error_status_that_reschedules_is_no_retry() -> Result<()> {
    let minute = Duration::from_secs(60);
    let control = move || ErrorStatusUpdateControl::no_status_update().reschedule_after(minute);
    let (scene, script) = (scene().await?, failing(control));
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
    let script = Script::new(|_, _: Arc<TestResource>, _| {
        Box::pin(async { Ok(UpdateControl::patch_status(said("well"))) })
    });
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
