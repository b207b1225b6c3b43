//! What a dependent creates and updates causes no further run.

use anyhow::Result;
use integration_tests::{Script, test_resource, wanted_map, workflow_of_one};
use operator_core::testing::operator_test;

use crate::collected;

test_resource!("dependent-operation-event-filter.conformance.operator-core.io", namespaced);

#[operator_test]
async fn a_dependent_s_own_writes_cause_no_run() -> Result<()> {
    let scene = collected::scene::<TestResource>("dependent-operation-filter").await?;
    for (name, ssa) in [("applied", true), ("replaced", false)] {
        let workflow = workflow_of_one(wanted_map("a").use_ssa(ssa))?;
        let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
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
