//! A primary that is deleted, or replaced under its name, during its run.

use futures::FutureExt;
use integration_tests::prelude::*;
use tracing::Level;

/// The first run of an object waits at the gate; each run says in the status about which object it was.
fn script(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::new(move |run, primary: Arc<TestResource>, _| {
        let gate = gate.clone();
        Box::pin(async move {
            if run == 1 {
                gate.pass().await;
            }
            let message = Some(format!("{} in run {run}", primary.uid().unwrap_or_default()));
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    })
}

fn assert_quiet(log: &LogCapture) {
    let loud = [log.lines(Level::WARN), log.lines(Level::ERROR)].concat();
    assert!(loud.is_empty(), "not an error: {loud:#?}");
}

#[operator_test(flavor = "current_thread")]
async fn a_primary_deleted_during_its_run_is_no_error_and_does_not_come_back() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("primary-gone").await?;
    let gate = Gate::new();
    let script = script(&gate);
    let operator = scene.start_script(&script).await?;
    scene.create("one", "value").await?;
    gate.arrived().await?;
    scene.delete("one").await?;
    gate.let_through(1);
    operator.settled().await?;
    assert!(scene.resources.get_opt("one").await?.is_none(), "a zombie");
    assert_eq!(script.runs.count(), 1);
    assert_quiet(&log);
    Ok(())
}

/// What happens to "one" just before its first status is sent.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Deleted,
    Replaced,
}

/// Starts an operator for which `what` happens after it has looked at its cache for the last time, and before its request
/// reaches the server.
async fn at_the_last_moment(scene: &Scene, script: &Script, what: Before) -> Result<TestOperator> {
    let (of_test, done) = (scene.clone(), Arc::new(AtomicBool::new(false)));
    let hook = before(move |_, path| {
        if !path.ends_with("/one/status") || done.swap(true, Ordering::SeqCst) {
            return None;
        }
        let scene = of_test.clone();
        Some(
            async move {
                scene.delete("one").await.expect("deleted");
                if what == Before::Replaced {
                    scene.create("one", "second").await.expect("created anew");
                }
            }
            .boxed(),
        )
    });
    let controller = scene.controller(script);
    Ok(TestOperator::start(scene.operator().transport(hook).register(controller)).await?)
}

#[operator_test(flavor = "current_thread")]
async fn a_primary_deleted_just_before_its_status_is_written_is_no_error() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("primary-gone").await?;
    let gate = Gate::new();
    gate.let_through(1);
    let script = script(&gate);
    let operator = at_the_last_moment(&scene, &script, Before::Deleted).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 404"]);
    assert!(scene.resources.get_opt("one").await?.is_none(), "a zombie");
    assert_eq!(script.runs.count(), 1);
    assert_quiet(&log);
    Ok(())
}

#[operator_test(flavor = "current_thread")]
async fn a_primary_replaced_just_before_its_status_is_written_gets_its_own_status_only() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("primary-gone").await?;
    let gate = Gate::new();
    gate.let_through(1);
    let script = script(&gate);
    let operator = at_the_last_moment(&scene, &script, Before::Replaced).await?;
    let old = scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH testresources/one/status -> 409", "PATCH testresources/one/status -> 200"],
        "the old run's status is refused, the new one's is taken"
    );
    check_replaced(&scene, &script, &old).await?;
    assert_quiet(&log);
    Ok(())
}

#[operator_test(flavor = "current_thread")]
async fn a_primary_replaced_during_a_run_gets_its_own_status_only() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("primary-gone").await?;
    let gate = Gate::new();
    let script = script(&gate);
    let operator = scene.start_script(&script).await?;
    let old = scene.create("one", "first").await?;
    gate.arrived().await?;
    scene.delete("one").await?;
    scene.create("one", "second").await?;
    gate.let_through(1);
    let settled = operator.settled().await?;
    // Whether the old run's write is sent at all depends on whether the watch was quicker; it is never taken.
    assert_eq!(
        settled.writes().filter(|write| write.code == Some(200)).count(),
        1,
        "{:?}",
        settled.written()
    );
    check_replaced(&scene, &script, &old).await?;
    assert_quiet(&log);
    Ok(())
}

/// The new object has the status of its own run, and no two runs were under way at a time.
async fn check_replaced(scene: &Scene, script: &Script, old: &TestResource) -> Result<()> {
    let one = scene.resources.get("one").await?;
    assert_ne!(one.uid(), old.uid());
    let message = one.status.as_ref().and_then(|status| status.message.clone());
    assert_eq!(message, Some(format!("{} in run 2", one.uid().unwrap_or_default())));
    let uids: Vec<_> = script.runs.of("one").into_iter().map(|run| Some(run.uid)).collect();
    assert_eq!(uids, [old.uid(), one.uid()], "one run each");
    assert!(script.runs.overlapping().is_empty());
    Ok(())
}
