//! Two dependents of one type without a setting that assigns objects to them: they are distinguished by the names that
//! they desire, and each is found again after others have deleted it.

use integration_tests::prelude::*;

#[operator_test]
async fn the_names_tell_them_apart() -> Result<()> {
    let scene = Scene::new("multiple-no-discriminator").await?;
    let workflow = workflow_of(["a", "b"].map(wanted_map))?;
    let controller = standalone(&workflow).controller().event_sources_of(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("two", "other").await?;
    scene.until_values([("two-a", "other"), ("two-b", "other")]).await?;
    operator.settled().await?;
    scene.api::<ConfigMap>().delete("two-b", &DeleteParams::default()).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/two-b -> 201"]);
    scene.delete("two").await?;
    scene.until_values([]).await?;
    scene.two_maps_come_change_and_go().await
}
