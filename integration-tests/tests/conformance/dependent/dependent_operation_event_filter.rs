//! A dependent's own creations and updates cause no further run.

use integration_tests::prelude::*;

#[operator_test]
async fn a_dependent_s_own_writes_cause_no_run() -> Result<()> {
    let scene = Scene::new("dependent-operation-filter").await?;
    for (name, ssa) in [("applied", true), ("replaced", false)] {
        let workflow = workflow_of_one(wanted_map("a").use_ssa(ssa))?;
        let operator = scene.start_managed(&Script::idle(), &workflow).await?;
        scene.create(name, "first").await?;
        let created = operator.settled().await?;
        assert_eq!((created.runs_of(&scene.key(name)), created.requests.len()), (1, 1));
        scene.set(name, "second").await?;
        let updated = operator.settled().await?;
        assert_eq!((updated.runs_of(&scene.key(name)), updated.requests.len()), (1, 1));
        scene.until_values([(&format!("{name}-a"), "second")]).await?;
        operator.stop().await;
        scene.until_nothing_is_left_of(name).await?;
    }
    Ok(())
}
