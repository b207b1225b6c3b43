//! A filtered write of the primary leads to one run, an unfiltered one to more.

use integration_tests::prelude::*;
use operator_core::operations::WriteMode;

async fn runs_with(mode: WriteMode) -> Result<u32> {
    let scene = Scene::new("filter-patch-event").await?;
    let script = Script::new(move |run, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if run == 1 {
                let mut desired = (*primary).clone();
                desired.status = Some(said("written"));
                context.resource_operations().mode(mode).server_side_apply_status(&desired).await?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().generation_aware(false).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    assert_eq!(scene.resources.get("one").await?.status, Some(said("written")));
    Ok(settled.runs_of(&scene.key("one")))
}

#[operator_test]
async fn a_filtered_write_causes_no_run() -> Result<()> {
    assert_eq!(runs_with(WriteMode::ForceFilter).await?, 1);
    assert_eq!(runs_with(WriteMode::MatchAndFilter).await?, 1);
    Ok(())
}

#[operator_test]
async fn an_unfiltered_write_causes_one() -> Result<()> {
    assert_eq!(runs_with(WriteMode::CacheOnly).await?, 2);
    Ok(())
}
