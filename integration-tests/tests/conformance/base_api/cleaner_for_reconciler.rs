//! A cleaner puts a finalizer on the primary and is called upon its deletion; it is called again when it keeps the
//! finalizer and asks for another time.

use integration_tests::prelude::*;
use operator_core::observe::Cause;

const FINALIZER: &str = "testresources.conformance.operator-core.io/finalizer";

#[operator_test]
async fn the_finalizer_is_added_and_the_clean_up_is_called_upon_deletion() -> Result<()> {
    let scene = Scene::new("cleaner-for-reconciler").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().cleaner(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    let added = operator.settled().await?;
    assert_eq!(added.written(), ["PATCH testresources/one -> 200"]);
    assert_eq!(scene.resources.get("one").await?.finalizers(), [FINALIZER]);
    assert_eq!((script.runs.count(), script.cleanups.count()), (1, 0), "the finalizer's echo causes no run");

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let removed = operator.settled().await?;
    assert_eq!(removed.written(), ["PATCH testresources/one -> 200"]);
    assert_eq!((script.runs.count(), script.cleanups.count()), (1, 1));
    Ok(())
}

#[operator_test]
async fn a_clean_up_that_keeps_the_finalizer_is_called_again_after_its_delay() -> Result<()> {
    const DELAY: Duration = Duration::from_millis(100);
    let scene = Scene::new("cleaner-for-reconciler").await?;
    let script = Script::<TestResource>::idle().cleanup(|times, _, _| {
        Box::pin(async move {
            Ok(match times {
                1 | 2 => Removal::again_in(DELAY),
                _ => Removal::Done,
            })
        })
    });
    let controller = script.controller().cleaner(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one -> 200"], "only the last clean-up writes");
    let cleanups = script.cleanups.of("one");
    assert_eq!(cleanups.len(), 3);
    for pair in cleanups.windows(2) {
        assert!(pair[1].started - pair[0].started >= DELAY, "{cleanups:?}");
        assert!(pair[1].causes.contains(Cause::Reschedule), "{cleanups:?}");
    }
    assert_eq!(script.runs.count(), 1);
    Ok(())
}

#[operator_test]
async fn a_clean_up_that_keeps_the_finalizer_without_a_delay_waits_for_an_event() -> Result<()> {
    let scene = Scene::new("cleaner-for-reconciler").await?;
    let script = Script::<TestResource>::idle().cleanup(|times, _, _| {
        Box::pin(async move { Ok(if times == 1 { Removal::keep() } else { Removal::Done }) })
    });
    let controller = script.controller().cleaner(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    let kept = operator.settled().await?;
    assert_eq!(kept.written(), [""; 0]);
    assert_eq!(script.cleanups.count(), 1);

    scene.patch("one", json!({ "spec": { "value": "changed" } })).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!((script.runs.count(), script.cleanups.count()), (1, 2));
    Ok(())
}
