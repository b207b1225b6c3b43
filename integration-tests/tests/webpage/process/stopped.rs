//! F36: the process is told to stop, once or twice, while it works, and while user code blocks.

use integration_tests::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;

use super::Scene;
use crate::support::{Running, cleaning, until};

const LOAD: usize = 30;

/// Tells the process to stop, and again while it is stopping.
async fn told_twice(run: &mut Running) -> anyhow::Result<()> {
    run.signal("TERM").await?;
    run.says("SIGTERM: stopping").await?;
    assert!(run.is_running()?, "{:#?}", run.said);
    run.signal("TERM").await?;
    // It has heard the second one before anything else happens.
    until("the second signal to be taken", async || (!run.has_pending_signals().ok()?).then_some(())).await
}

#[tokio::test]
async fn f36_a_second_sigterm_while_runs_end_changes_nothing() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let mut run = scene.operator().await?;
    scene.gateway.hold(true);
    for number in 0..LOAD {
        scene.create(&format!("load-{number}"), "<p>first</p>").await?;
    }
    until("runs that can't go on", async || (scene.gateway.waiting() > 1).then_some(())).await?;
    told_twice(&mut run).await?;
    assert!(run.is_running()?, "{:#?}", run.said);
    scene.gateway.hold(false);
    let before = tokio::time::Instant::now();
    assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);
    assert!(before.elapsed() < Duration::from_secs(25), "{:?}", before.elapsed());
    let statuses = scene.gateway.writes().into_iter().filter(|write| write.path.ends_with("/status")).count();
    assert!(statuses > 0, "the runs under way have come to their ends: {:#?}", scene.gateway.writes());

    let mut run = scene.operator().await?;
    for number in 0..LOAD {
        scene.is_complete(&format!("load-{number}"), "<p>first</p>").await?;
    }
    run.signal("TERM").await?;
    assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);
    let created = scene.created();
    assert_eq!(created.len(), 3 * LOAD);
    assert!(created.windows(2).all(|pair| pair[0] != pair[1]), "{created:#?}");
    Ok(())
}

/// Makes the operator work on a page whose code does `what`, and tells it to stop, twice. Returns its exit code.
async fn stopped_during(what: &str) -> anyhow::Result<Option<i32>> {
    let scene = Scene::new().await?;
    let mut run = scene.cleaning("stalling").await?;
    scene.create("page", what).await?;
    // All that a run does before it calls the reconciler.
    scene.exists::<Service>("page").await?;
    let before = tokio::time::Instant::now();
    for _ in 0..2 {
        run.signal("TERM").await?;
    }
    let end = tokio::time::timeout(Duration::from_secs(20), run.ended()).await;
    assert!(end.is_ok(), "it runs on although it was told to stop {:?} ago", before.elapsed());
    Ok(end??.code())
}

#[tokio::test]
async fn f36_a_run_that_never_ends_is_dropped() -> anyhow::Result<()> {
    assert_eq!(stopped_during("stall").await?, Some(143));
    Ok(())
}

#[tokio::test]
async fn f36_a_run_that_blocks_its_thread_for_ever_does_not_keep_the_process() -> anyhow::Result<()> {
    // The thread that is blocked may be the one that waits for everybody's events. Then nothing of the runtime goes on, and the
    // signal isn't heard in it.
    assert_eq!(stopped_during("block").await?, Some(143));
    Ok(())
}

#[tokio::test]
async fn f36_a_callback_that_blocks_when_a_leader_stops_does_not_keep_the_process() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let mut run = scene.leader().await?;
    told_twice(&mut run).await?;
    let end = tokio::time::timeout(Duration::from_secs(20), run.ended()).await;
    assert!(end.is_ok(), "it runs on although it was told to stop");
    assert_eq!(end??.code(), Some(0), "no run was under way: {:#?}", run.said);
    Ok(())
}

#[tokio::test]
async fn f36_a_callback_that_blocks_when_the_lease_is_lost_does_not_keep_the_process() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let mut run = scene.leader().await?;
    let leases = scene.api::<Lease>();
    leases.delete("webpage-operator", &Default::default()).await?;
    let end = tokio::time::timeout(Duration::from_secs(20), run.ended()).await;
    assert!(end.is_ok(), "it neither leads nor ends");
    assert_eq!(end??.code(), Some(75), "{:#?}", run.said);
    Ok(())
}

impl Scene {
    /// Starts a leader whose callback for the end of its term never returns. Its runtime has one thread, so nothing in
    /// it continues while the callback blocks that thread.
    async fn leader(&self) -> anyhow::Result<Running> {
        let mut command = self.command(cleaning, &["--style", "blocking"]);
        command.env("LEASE_NAMESPACE", &self.namespace).env("TOKIO_WORKER_THREADS", "1");
        let mut run = Running::start(command)?;
        run.says("elector: this replica leads").await?;
        Ok(run)
    }
}
