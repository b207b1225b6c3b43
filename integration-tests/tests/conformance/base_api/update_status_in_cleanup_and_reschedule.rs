//! A clean-up that writes the status and asks to be called again meets no conflict, is called after the delay that it
//! requested and not before, and completes. Its writes use its own client, and count as another writer's.

use integration_tests::prelude::*;

const DELAY: Duration = Duration::from_millis(150);

#[operator_test]
async fn each_delay_is_kept_and_the_clean_up_ends() -> Result<()> {
    let scene = Scene::new("cleanup-and-reschedule").await?;
    let resources = scene.resources.clone();
    let script = Script::idle().cleanup(move |call, _: Arc<TestResource>, _| {
        let resources = resources.clone();
        Box::pin(async move {
            if call > 4 {
                return Ok(Removal::Done);
            }
            let status = Patch::Merge(json!({ "status": { "message": format!("clean-up {call}") } }));
            resources.patch_status("one", &PatchParams::default(), &status).await?;
            Ok(Removal::again_in(DELAY))
        })
    });
    let controller = script.controller().cleaner(true).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one -> 200"], "its finalizer, without a conflict");
    assert_eq!(script.cleanups.count(), 5);
    assert_eq!(script.cleanups.of("one").iter().filter_map(|run| run.attempt).count(), 0, "no retry");
    let called = script.cleanups.instants("one");
    let delays: Vec<Duration> = called.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(delays.iter().all(|delay| *delay >= DELAY), "{delays:?}");
    Ok(())
}
