//! An object that is already marked for deletion when the operator starts is cleaned up, although the event source of
//! its dependent starts only then.

use integration_tests::prelude::*;
use operator_core::controller::IntoController;

#[operator_test]
async fn what_is_to_be_deleted_is_found_before_it_is_deleted() -> Result<()> {
    let scene = Scene::new("workflow-activation-cleanup").await?;
    let controller = || -> Result<_> {
        let (script, _) = looking_on::<TestResource>();
        let workflow =
            Workflow::builder().nodes((Child("child").deleted_node().needs(Switch::on()),)).build()?;
        Ok(script.controller().workflow(&workflow).namespaces([&scene.namespace]).into_controller()?)
    };
    let first = scene.start(controller()?).await?;
    scene.create("one", "value").await?;
    first.settled().await?;
    assert!(scene.api::<ConfigMap>().get_opt("one-child").await?.is_some());
    first.stop().await;

    scene.delete("one").await?;
    let second = scene.start(controller()?).await?;
    scene.until_gone("one").await?;
    let deleted = second.settled().await?;
    assert_eq!(deleted.written(), ["DELETE configmaps/one-child -> 200", "PATCH testresources/one -> 200"]);
    Ok(())
}
