//! Two nodes of one type of records, in one system: each has its own of the primary's records.

use integration_tests::prelude::*;

#[operator_test]
async fn two_dependents_share_a_system_and_keep_apart() -> Result<()> {
    let scene = Scene::new("multiple-managed-external").await?;
    let system = ExternalSystem::default();
    let workflow = workflow_of([one_record(&system, "-a"), one_record(&system, "-b")])?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;

    let both = async |value: &str| {
        let data = |suffix: &str| system.named(&format!("one{suffix}")).pop().map(|record| record.data);
        eventually(value, async || {
            let both = data("-a") == Some(format!("{value}-a")) && data("-b") == Some(format!("{value}-b"));
            Ok(both.then_some(()))
        })
        .await
    };
    scene.create("one", "first").await?;
    both("first").await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    both("second").await?;
    assert_eq!(system.created(), 2);
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty());
    operator.stop().await;
    Ok(())
}
