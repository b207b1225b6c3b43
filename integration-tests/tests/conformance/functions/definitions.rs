//! A controller brings the definition of its primaries, however it is declared.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::{controller::IntoController, prelude::*};

fn map(late: &LateTestResource) -> ConfigMap {
    let data = [("value".to_owned(), late.spec.value.clone())];
    ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
}

#[derive(ControllerConfiguration)]
#[controller(primary = LateTestResource, name = "brought")]
#[workflow(map)]
struct Derived;

/// On a server that doesn't know the kind: its definition is what the operator prints for `crd`, and nothing else is needed.
async fn brought(name: &str, controller: impl IntoController) -> Result<()> {
    let (_turn, scene) = Scene::late(name).await?;
    let builder = scene.operator().register(controller);
    assert_eq!(builder.crds(), [LateTestResource::crd()]);
    scene.install_crd().await?;
    let operator = TestOperator::start(builder).await?;
    eventually("a primary", async || Ok(scene.create("one", "first").await.ok())).await?;
    scene.until_other::<ConfigMap>("its child", "one-map", |_| true).await?;
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_controller_that_is_given_a_reconciler_brings_the_definition() -> Result<()> {
    let script = Script::<LateTestResource>::idle();
    let controller =
        Controller::of::<LateTestResource>().reconciler(script.clone()).cleaner(false).workflow((map,));
    brought("brought-reconciler", controller).await?;
    assert!(script.runs.count() > 0, "it is the one that runs");
    Ok(())
}

#[operator_test]
async fn a_derived_controller_brings_the_definition() -> Result<()> {
    brought("brought-derived", Derived).await
}

#[operator_test]
async fn a_definition_that_is_named_takes_the_place_of_the_one_that_is_brought() -> Result<()> {
    let scene = Scene::<TestResource>::new("brought-named").await?;
    let mut other = TestResource::crd();
    other.spec.names.short_names = Some(vec!["other".to_owned()]);
    let pages = Controller::of::<TestResource>().reconciler(Script::<TestResource>::idle());
    let builder = scene.operator().register(pages).crd(other);
    let known: Vec<_> =
        builder.crds().iter().map(|crd| (crd.name_any(), crd.spec.names.short_names.clone())).collect();
    assert_eq!(known, [(TestResource::crd().name_any(), Some(vec!["other".to_owned()]))]);
    Ok(())
}
