//! A custom resource whose definition is missing when the operator starts.

use integration_tests::prelude::*;
use operator_core::observe::SourceHealth;
use tracing::Level;

/// This number of attempts shows that the operator tries again without reporting each of them.
const ATTEMPTS: usize = 3;

#[operator_test(flavor = "current_thread")]
async fn the_operator_says_what_is_missing_once_and_works_when_it_is_there() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let (_turn, scene) = Scene::late("crd-missing-at-start").await?;
    let script = Script::<LateTestResource>::idle();
    let controller = script.controller().name("missing").namespaces([&scene.namespace]);
    let operator = TestOperator::start_unsynced(scene.operator().register(controller)).await?;

    let (reason, advice) = eventually("an unhealthy source", async || {
        let unhealthy = operator.unhealthy_sources().await;
        Ok(unhealthy.into_iter().find_map(|source| match source.health {
            SourceHealth::Unhealthy { reason, advice } => Some((reason, advice)),
            SourceHealth::Syncing | SourceHealth::Healthy => None,
        }))
    })
    .await?;
    let name = "latetestresources.late.conformance.operator-core.io";
    assert!(
        reason.contains("could not find the requested resource") || reason.contains("not found"),
        "{reason}"
    );
    let advice = advice.expect("advice");
    assert!(advice.contains(name), "{advice}");
    assert!(advice.contains("crd | kubectl apply"), "{advice}");

    eventually("further attempts", async || {
        let calls = scene.cluster.audit()?;
        let lists = calls
            .iter()
            .filter(|call| call.resource == "latetestresources" && call.namespace == scene.namespace);
        Ok((lists.filter(|call| call.code == 404).count() >= ATTEMPTS).then_some(()))
    })
    .await?;
    let warnings = log.lines(Level::WARN);
    let [warning] = &warnings[..] else { panic!("not exactly one warning: {warnings:#?}") };
    assert_eq!((warning.field("controller"), warning.field("advice")), ("missing", advice.as_str()));
    assert!(log.lines(Level::ERROR).is_empty());

    scene.install_crd().await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 1);
    assert!(operator.unhealthy_sources().await.is_empty());
    assert_eq!(log.lines(Level::WARN).len(), 1);
    let recovered = log.lines(Level::INFO);
    assert!(
        recovered.iter().any(|line| line.field("message") == "event source works again"),
        "{recovered:#?}"
    );
    Ok(())
}
