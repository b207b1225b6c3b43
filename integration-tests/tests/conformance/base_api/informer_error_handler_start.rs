//! By default an operator starts although it may not list its secondaries: it reports this, which doesn't count as the
//! end of a source, and it works once it has the right.

use integration_tests::prelude::*;
use integration_tests::rights;
use operator_core::{observe::SourceHealth, operator::Stopped};

#[operator_test]
async fn a_start_succeeds_without_any_right() -> Result<()> {
    let scene = Scene::new("error-handler-start").await?;
    let script = Script::idle();
    scene.create("one", "first").await?;
    let builder = scene
        .operator()
        .config(scene.cluster.config_as("user-with-no-rights", &[]))
        .cache_sync_timeout(Duration::from_secs(2))
        .register(scene.controller(&script));
    let started = tokio::time::timeout(Duration::from_secs(5), TestOperator::start_unsynced(builder)).await?;
    assert!(started.is_ok(), "{:?}", started.err());
    let operator = started?;
    eventually("the primaries to be forbidden", async || {
        let unhealthy = operator.unhealthy_sources().await;
        Ok((unhealthy.len() == 1 && refused(&unhealthy[0].health)).then_some(()))
    })
    .await?;
    assert_eq!(script.runs.count(), 0);
    assert_eq!(operator.stop().await, Stopped::Drained);
    Ok(())
}

fn refused(health: &SourceHealth) -> bool {
    matches!(health, SourceHealth::Unhealthy { reason, .. } if reason.contains("cannot list resource"))
}

#[operator_test]
async fn a_start_succeeds_without_a_right_and_the_operator_works_when_it_comes() -> Result<()> {
    let scene = Scene::new("error-handler-start").await?;
    let user = format!("{}-operator", scene.namespace);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    let (script, stopped) = (Script::idle(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&stopped);
    let builder = scene
        .operator()
        .config(scene.cluster.config_as(&user, &[]))
        .register(scene.controller(&script).owns::<ConfigMap>())
        .on_source_stopped(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
    let operator = TestOperator::start_unsynced(builder).await?;
    eventually("the source of config maps to be forbidden", async || {
        let unhealthy = operator.unhealthy_sources().await;
        Ok((unhealthy.len() == 1 && refused(&unhealthy[0].health)).then_some(()))
    })
    .await?;
    scene.create("one", "first").await?;
    assert_eq!(script.runs.count(), 0);
    let maps = rights::maps(&["list", "watch"]);
    scene.grant("maps", &user, &maps).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert!(operator.unhealthy_sources().await.is_empty());
    assert_eq!(stopped.load(Ordering::SeqCst), 0, "a source that tries again has not stopped");
    Ok(())
}
