//! Two managed dependents of one type that are told apart by nothing but the names that they desire.

use anyhow::Result;
use integration_tests::{Script, test_resource, wanted_map, workflow_of};
use operator_core::dependent::{Capabilities, IntoDependent};
use operator_core::testing::operator_test;

use crate::collected;

test_resource!("multiple-managed-no-discriminator.conformance.operator-core.io", namespaced);

#[operator_test]
async fn two_config_maps_that_the_operator_deletes_itself() -> Result<()> {
    let scene = collected::scene::<TestResource>("managed-no-discriminator").await?;
    let workflow = workflow_of(
        ["a", "b"].map(|name| wanted_map(name).capabilities(Capabilities::CRUD_NO_GC).into_dependent()),
    )?;
    let _operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
    scene.two_maps_come_change_and_go().await
}
