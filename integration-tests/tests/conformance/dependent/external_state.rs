//! A reconciler without dependents keeps the id that another system gave in a config map: it is created once, changed,
//! found again after a restart, and deleted.

use futures::{FutureExt, future::BoxFuture};
use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use operator_core::Context;

fn keeper(of: &TestResource, id: &str, owner: OwnerReference) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-state", of.name_any())),
            namespace: of.namespace(),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some([("id".to_owned(), id.to_owned())].into()),
        ..ConfigMap::default()
    }
}

fn kept_id(context: &Context<TestResource>) -> Option<String> {
    context.secondary::<ConfigMap>().ok()??.data.as_ref()?.get("id").cloned()
}

fn reconcile<'c>(
    system: ExternalSystem,
    resource: &TestResource,
    context: &'c Context<TestResource>,
) -> BoxFuture<'c, Result<UpdateControl<TestResource>>> {
    let resource = resource.clone();
    async move {
        let value = &resource.spec.value;
        match kept_id(context).and_then(|id| system.get(&id)) {
            Some(record) if record.data == *value => {}
            Some(record) => drop(system.update(&record.id, value)?),
            None => {
                let record = system.create(&resource.name_any(), value)?;
                let owner = context.owner_reference(&resource).context("it has a uid")?;
                let map = keeper(&resource, &record.id, owner);
                context.resource_operations().create(&map).await?;
            }
        }
        Ok(UpdateControl::no_update())
    }
    .boxed()
}

fn controller(scene: &Scene, system: &ExternalSystem) -> ControllerBuilder<Script> {
    let (reconciled, cleaned) = (system.clone(), system.clone());
    let script = Script::new(move |_, resource, context| reconcile(reconciled.clone(), &resource, context))
        .cleanup(move |_, _, context| {
            let system = cleaned.clone();
            async move {
                // The record goes first: the map is the only thing that knows it.
                if let Some(map) = context.secondary::<ConfigMap>()? {
                    kept_id(context).iter().for_each(|id| system.delete(id));
                    context.resource_operations().delete(&*map).await?;
                }
                Ok(Removal::Done)
            }
            .boxed()
        });
    script.controller().cleaner(true).owns::<ConfigMap>().namespaces([&scene.namespace])
}

#[operator_test]
async fn the_id_is_kept_in_a_config_map() -> Result<()> {
    let scene = Scene::new("external-state").await?;
    let system = ExternalSystem::default();
    let operator = scene.start(controller(&scene, &system)).await?;
    scene.create("one", "first").await?;
    let kept = |map: &ConfigMap| map.data.as_ref().is_some_and(|data| data.contains_key("id"));
    let map = scene.until_other::<ConfigMap>("the id to be kept", "one-state", kept).await?;
    let record = system.all().pop().context("the record was created")?;
    assert_eq!(map.data.as_ref().and_then(|data| data.get("id")), Some(&record.id));
    operator.stop().await;

    let operator = scene.start(controller(&scene, &system)).await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    eventually("the change", async || Ok(system.get(&record.id).filter(|record| record.data == "second")))
        .await?;
    assert_eq!(system.created(), 1, "the id was found again after the restart");

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(system.all().is_empty());
    assert!(scene.api::<ConfigMap>().get_opt("one-state").await?.is_none());
    operator.stop().await;
    Ok(())
}
