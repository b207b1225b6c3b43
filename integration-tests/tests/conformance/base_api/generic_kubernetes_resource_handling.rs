//! Secondaries of a kind that is known only at run time: created with their primary, updated with its spec, deleted
//! with it. A second such source, of a cluster-scoped kind, isn't confused with the first.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::{ApiResource, DynamicObject};
use operator_core::{ResourceType, operations::Error};

fn map_resource() -> ApiResource {
    ApiResource::erase::<ConfigMap>(&())
}

#[operator_test]
async fn untyped_secondaries_are_created_updated_and_collected() -> Result<()> {
    let scene = Scene::new("generic-resource-handling").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let maps = ResourceType::with::<DynamicObject>(&map_resource());
            let namespaces = ResourceType::of::<Namespace>();
            let namespace = primary.namespace().unwrap_or_default();

            // Each kind is found by what it is, and is not among the objects of the other.
            let key = ObjectKey::cluster_scoped(&namespace);
            let found = context.get_of_kind::<DynamicObject>(&namespaces, &key)?.context("the namespace")?;
            assert_eq!(found.types.as_ref().map(|types| &*types.kind), Some("Namespace"));
            assert!(context.get_of_kind::<DynamicObject>(&maps, &key)?.is_none());
            let source = context.event_source_of_kind::<DynamicObject>(&maps).context("the source")?;
            assert_eq!(source.name(), "ConfigMap");
            let own = context.secondaries_of_kind::<DynamicObject>(&maps)?;
            assert!(own.iter().all(|map| map.name_any() == primary.name_any()));
            assert!(context.secondaries_of_kind::<DynamicObject>(&namespaces)?.is_empty());

            let mut map = DynamicObject::new(&primary.name_any(), &map_resource()).within(&namespace);
            map.metadata.owner_references = context.owner_reference(&primary).map(|owner| vec![owner]);
            map.data = json!({ "data": { "value": primary.spec.value } });
            context.resource_operations().server_side_apply(&map).await?;

            let nobodys =
                DynamicObject::new("one", &ApiResource::erase::<TestResource>(&())).within(&namespace);
            let refused = context.resource_operations().server_side_apply(&nobodys).await;
            assert!(matches!(refused, Err(Error::NoEventSource { .. })), "{refused:?}");
            Ok(UpdateControl::no_update())
        })
    });
    // The source of the other kind comes first, where a look by the Rust type alone would find it.
    let namespaces = InformerEventSource::<DynamicObject>::of_type(ApiResource::erase::<Namespace>(&()))
        .cluster_scoped()
        .field_selector(format!("metadata.name={}", scene.namespace));
    let controller = script
        .controller()
        .watches(namespaces)
        .watches(InformerEventSource::<DynamicObject>::of_type(map_resource()));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "first").await?;
    let created = operator.settled().await?;
    assert_eq!(created.written(), ["PATCH configmaps/one -> 201"]);
    let maps = scene.api::<ConfigMap>();
    assert_eq!(value_of(&maps.get("one").await?), Some("first"));

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let updated = operator.settled().await?;
    assert_eq!(updated.written(), ["PATCH configmaps/one -> 200"]);
    assert_eq!(value_of(&maps.get("one").await?), Some("second"));
    assert_eq!(script.runs.count(), 2, "own writes cause no run");

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    eventually("the end of the config map", async || Ok(maps.get_opt("one").await?.is_none().then_some(())))
        .await
}
