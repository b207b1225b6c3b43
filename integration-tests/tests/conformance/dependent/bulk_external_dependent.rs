//! A bulk of records in another system: three, one, five and none on deletion; a change of the data reaches all.

use integration_tests::prelude::*;

async fn until(system: &ExternalSystem, number: usize, data: &str) -> Result<()> {
    eventually(&format!("{number} records with {data}"), async || {
        let records = system.all();
        let all = records.len() == number && records.iter().all(|record| record.data == data);
        Ok(all.then_some(()))
    })
    .await
}

#[operator_test]
async fn a_bulk_of_external_records_follows_its_primary() -> Result<()> {
    let scene = Scene::new("bulk-external").await?;
    let system = ExternalSystem::default();
    let workflow = workflow_of_one(many_records(&system))?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;

    scene.create("one", "3 first").await?;
    until(&system, 3, "first").await?;
    for (value, number, data) in
        [("3 second", 3, "second"), ("1 second", 1, "second"), ("5 second", 5, "second")]
    {
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        until(&system, number, data).await?;
    }
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty(), "the finalizer kept the primary until its records were gone");
    assert_eq!(system.created(), 7, "none was created twice");
    operator.stop().await;
    Ok(())
}
