//! The start of a run, and the data that outlives a failure.

use anyhow::anyhow;
use integration_tests::prelude::*;
use operator_core::{
    Context,
    observe::{Observation, Observer, RunEnd},
    testing::faults::Fault,
};

use super::{calm, gone_after, message, pass, scene, under};

/// The run whose finalizer was just added: the primary that it is given, and the result of its workflow.
#[tokio::test(start_paused = true)]
async fn reconcile_and_its_workflow_see_the_primary_with_the_finalizer_that_was_put_on() -> Result<()> {
    let scene = scene().await?;
    let seen: Arc<Mutex<Vec<(&str, usize)>>> = Arc::default();
    let (by_run, by_workflow) = (Arc::clone(&seen), Arc::clone(&seen));
    let script = Script::new(move |_, primary: Arc<TestResource>, _| {
        by_run.lock().push(("reconcile", primary.finalizers().len()));
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let map = wish(move |primary: &TestResource, _: &Context<TestResource>| {
        by_workflow.lock().push(("workflow", primary.finalizers().len()));
        Ok(map_of(primary, "a", "value"))
    });
    let map = node(map).named("a").without_owner();
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow_of_one(map)?)).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    assert_eq!(*seen.lock(), [("workflow", 1), ("reconcile", 1)]);
    operator.stop().await;
    Ok(())
}

/// A write had no answer, so the next run begins with a read; a read that fails is repeated.
#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_made_again() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move { Ok(Said::status(said(primary.spec.value.clone()))) })
    });
    let lost = Rule::writes().resource("testresources").first(1).fault(Fault::AnswerLost);
    let refused = Rule::on(Verb::Get).resource("testresources").first(2).status(StatusAnswer::internal());
    let faults = Faults::new([lost.clone(), refused.clone()]);
    let controller = script.controller().name("looking").namespaces([&scene.namespace]);
    let operator = under(&faults, &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(300).await;
    assert_eq!((lost.fired(), refused.fired()), (1, 2), "lost answers, and looks that failed");
    let requests = operator.settled().await?.requests;
    let looks = requests.iter().filter(|request| !request.is_write()).count();
    // Those that failed were answered before they got so far.
    assert!(looks >= 1, "the last look succeeds: {requests:?}");
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("value"));
    operator.stop().await;
    Ok(())
}

/// Marked for deletion, and held by others: there is nothing left to do.
#[tokio::test(start_paused = true)]
async fn a_primary_that_goes_is_not_reconciled_however_long_others_hold_it() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let operator = under(&calm(), &scene, scene.controller(&script)).await?;
    let mut held = fresh("one");
    held.metadata.finalizers = Some(vec!["example.com/others".to_owned()]);
    scene.resources.create(&kube::api::PostParams::default(), &held).await?;
    pass(10).await;
    assert_eq!(script.runs.count(), 1);
    scene.delete("one").await?;
    pass(10).await;
    scene.set("one", "changed while it goes").await?;
    pass(60).await;
    assert_eq!(script.runs.count(), 1, "reconciles");
    scene.patch("one", json!({ "metadata": { "finalizers": [] } })).await?;
    pass(10).await;
    assert_eq!(operator.operator().footprint().await.primaries, 0);
    operator.stop().await;
    Ok(())
}

fn fresh(name: &str) -> TestResource {
    use integration_tests::TestObject;
    TestResource::named(name, "value")
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_failure_that_takes_too_long_does_not_keep_its_primary_from_being_retried()
-> Result<()> {
    let scene = scene().await?;
    let script = Script::failing(|| anyhow!("it fails")).on_error(|_, _, error| said(error.to_string()));
    let endless = Rule::writes().resource("testresources").subresource("status").fault(Fault::Hang);
    let controller =
        scene.controller(&script).reconcile_timeout(Duration::from_secs(10)).retry(GenericRetry::josdk());
    let operator = under(&Faults::new([endless]), &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(5).await;
    assert_eq!(script.runs.count(), 1, "its status is being written");
    pass(3600).await;
    assert_eq!(script.runs.count(), 6, "the first run and five retries");
    operator.stop().await;
    Ok(())
}

/// The end of a primary during its run isn't a failure, whatever the run's result.
#[tokio::test(start_paused = true)]
async fn a_run_whose_primary_has_gone_is_no_failure() -> Result<()> {
    let (scene, asked) = (scene().await?, Arc::new(AtomicBool::new(false)));
    let (noted, others) = (Arc::clone(&asked), scene.clone());
    let script = Script::new(move |_, primary: Arc<TestResource>, _| {
        let scene = others.clone();
        Box::pin(async move {
            scene.delete(&primary.name_any()).await?;
            Ok(Said::status(said("too late")))
        })
    });
    let script = script.on_error(move |_, _, _| {
        noted.store(true, Ordering::SeqCst);
    });
    let (log, _guard) = integration_tests::LogCapture::start();
    let operator = under(&calm(), &scene, scene.controller(&script)).await?;
    scene.create("one", "value").await?;
    pass(3600).await;
    assert_eq!(script.runs.count(), 1, "no retry");
    let told: Vec<_> = [tracing::Level::WARN, tracing::Level::ERROR].map(|level| log.lines(level)).concat();
    assert!(told.iter().all(|line| !line.field("message").contains("failed")), "{told:?}");
    operator.stop().await;
    Ok(())
}

/// How many runs have failed, according to the observations.
#[derive(Debug, Default)]
struct Failures(AtomicUsize);

impl Observer for Failures {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RunFinished { end: RunEnd::Failed { .. }, .. } = observation {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The same if the workflow finds that the primary is gone.
#[tokio::test(start_paused = true)]
async fn a_workflow_whose_primary_has_gone_is_no_failure() -> Result<()> {
    let (scene, failures) = (scene().await?, Arc::new(Failures::default()));
    let others = scene.clone();
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let scene = others.clone();
        Box::pin(async move {
            scene.delete(&primary.name_any()).await?;
            pass(5).await;
            context.run().await?;
            Ok(UpdateControl::no_update())
        })
    });
    let workflow = Workflow::builder().nodes((Child("a").node(),)).explicit_invocation().build()?;
    let builder = scene.operator().observer(Arc::clone(&failures) as Arc<dyn Observer>);
    let operator = TestOperator::start(builder.register(scene.managed(&script, &workflow))).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    assert_eq!((script.runs.count(), failures.0.load(Ordering::SeqCst)), (1, 0), "runs, and failures");
    assert!(scene.values().await?.is_empty(), "nothing is made for what has gone");
    operator.stop().await;
    Ok(())
}

/// The reconciler should look at the errors of a clean-up, and has none: the framework tries again.
#[tokio::test(start_paused = true)]
async fn a_failed_clean_up_that_nobody_looks_at_is_tried_again() -> Result<()> {
    let (scene, script) = (scene().await?, Script::idle());
    let refused = Rule::on(Verb::Delete).resource("configmaps").first(2).status(StatusAnswer::conflict());
    let faults = Faults::new([refused.clone()]);
    let workflow =
        Workflow::builder().nodes((Child("a").deleted_node(),)).handle_errors_in_reconciler().build()?;
    let operator = under(&faults, &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!(refused.fired(), 2);
    operator.stop().await;
    Ok(())
}

/// A workflow that is invoked explicitly is cleaned up explicitly.
#[tokio::test(start_paused = true)]
async fn an_explicit_workflow_is_not_cleaned_up_before_its_reconciler_says_so() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            context.run().await?;
            Ok(UpdateControl::no_update())
        })
    });
    let script = script.cleanup(|run, _, context| {
        Box::pin(async move {
            if run == 1 {
                return Ok(Removal::again_in(Duration::from_secs(60)));
            }
            context.clean_up().await?;
            Ok(Removal::Done)
        })
    });
    let workflow = Workflow::builder().nodes((Child("a").deleted_node(),)).explicit_invocation().build()?;
    let controller = scene.managed(&script, &workflow).cleaner(true);
    let operator = under(&calm(), &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(10).await;
    scene.delete("one").await?;
    pass(30).await;
    assert_eq!((script.cleanups.count(), scene.values().await?.len()), (1, 1), "clean-ups, and maps");
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!((script.cleanups.count(), scene.values().await?.len()), (2, 0), "clean-ups, and maps");
    operator.stop().await;
    Ok(())
}
