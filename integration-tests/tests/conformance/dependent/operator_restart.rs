//! One operator, stopped and started again: existing primaries are reconciled again, and their dependents are unchanged.

use integration_tests::prelude::*;

#[operator_test]
async fn what_exists_is_reconciled_again_after_a_restart() -> Result<()> {
    let scene = Scene::new("operator-restart").await?;
    let script = Script::idle();
    let operator = scene.start_managed(&script, &workflow_of_one(wanted_map("a"))?).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), 1);
    operator.stop().await;

    operator.operator().start().await?;
    let again = operator.settled().await?;
    assert_eq!((script.runs.count(), again.written()), (2, Vec::new()));
    Ok(())
}

#[operator_test]
async fn what_changed_while_it_was_stopped_is_caught_up_with() -> Result<()> {
    let scene = Scene::new("operator-restart").await?;
    let operator = scene.start_managed(&Script::idle(), &workflow_of_one(wanted_map("a"))?).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    operator.stop().await;
    scene.set("one", "second").await?;
    scene.create("two", "new").await?;
    operator.operator().start().await?;
    scene.until_values([("one-a", "second"), ("two-a", "new")]).await
}
