//! A definition that is installed while the operator waits for it: until then there is a warning with the reason,
//! repeated but not more often than configured, and another controller of the same operator works; then the runs start.

use integration_tests::prelude::*;
use tracing::Level;

const TIMEOUT: Duration = Duration::from_millis(300);

#[operator_test(flavor = "current_thread")]
async fn the_operator_warns_and_waits_and_goes_on() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let (_turn, scene) = Scene::late("crd-installed-while-waiting").await?;
    let script = Script::<LateTestResource>::idle();
    let working = Scene::new("working-while-waiting").await?;
    let others = Script::<TestResource>::idle();
    let builder = scene
        .operator()
        .cache_sync_timeout(TIMEOUT)
        .register(script.controller().name("waiting").namespaces([&scene.namespace]))
        .register(others.controller().name("working").namespaces([&working.namespace]));
    let started = tokio::time::Instant::now();
    let operator = TestOperator::start_unsynced(builder).await?;

    let warnings = || {
        let warnings = log.lines(Level::WARN).into_iter();
        // On a loaded machine the other controller may take longer than that, too.
        let waiting = |line: &Line| line.field("controller") == "waiting";
        warnings
            .filter(|line| line.field("message").starts_with("no run starts before") && waiting(line))
            .collect::<Vec<_>>()
    };
    working.create("other", "value").await?;
    eventually("two warnings", async || Ok((warnings().len() >= 2).then_some(()))).await?;
    eventually("a run of the other controller", async || Ok((others.runs.count() == 1).then_some(())))
        .await?;
    let seen = warnings();
    assert!(started.elapsed() >= TIMEOUT * u32::try_from(seen.len())?, "too many: {seen:?}");
    for line in &seen {
        let lagging = line.field("lagging");
        let part = format!("primary in namespace {}: ", scene.namespace);
        assert!(lagging.starts_with(&part) && lagging.contains("install"), "{lagging}");
    }

    scene.install_crd().await?;
    scene.create("one", "value").await?;
    eventually("the first run", async || Ok((script.runs.count() > 0).then_some(()))).await?;
    operator.settled().await?;
    assert_eq!((script.runs.count(), others.runs.count()), (1, 1));
    Ok(())
}
