//! `status.observedGeneration` follows the generation, as user code sets it.

use integration_tests::prelude::*;

#[operator_test]
async fn the_observed_generation_follows() -> Result<()> {
    let scene = Scene::new("manual-observed-generation").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        let observed_generation = primary.metadata.generation;
        let status = TestStatus { observed_generation, ..TestStatus::default() };
        Box::pin(async move { Ok(Said::status(status)) })
    });
    let operator = scene.start_script(&script).await?;
    scene.create("one", "first").await?;
    for generation in 1..=3 {
        let settled = operator.settled().await?;
        assert_eq!(settled.runs_of(&scene.key("one")), 1);
        let one = scene.resources.get("one").await?;
        assert_eq!(one.metadata.generation, Some(generation));
        assert_eq!(one.status.and_then(|status| status.observed_generation), Some(generation));
        scene.patch("one", json!({ "spec": { "value": format!("change {generation}") } })).await?;
    }
    Ok(())
}
