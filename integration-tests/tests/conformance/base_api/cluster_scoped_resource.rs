//! A cluster-scoped primary has a namespaced dependent, which is created, updated, and deleted with its owner.

use integration_tests::prelude::*;
use operator_core::WatchScope;

#[operator_test]
async fn the_dependent_follows_its_primary_from_creation_to_deletion() -> Result<()> {
    let scene = Scene::cluster_scoped("cluster-scoped-resource").await?;
    // Cluster-scoped names are shared with everybody; the namespace's name is this test's own.
    let name = scene.namespace.as_str();
    let key = ObjectKey::cluster_scoped(name);
    let namespace = scene.namespace.clone();
    let script = Script::new(move |_, primary: Arc<ClusterTestResource>, context| {
        let namespace = namespace.clone();
        Box::pin(async move {
            let mut map = config_map(&*primary, context, &primary.spec.value);
            map.metadata.namespace = Some(namespace);
            context.resource_operations().server_side_apply(&map).await?;
            let message = Some(primary.spec.value.clone());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let maps = InformerEventSource::<ConfigMap>::new()
        .namespaces(WatchScope::Namespaces([scene.namespace.clone()].into()));
    let controller = script.controller().field_selector(format!("metadata.name={name}"));
    let operator = scene.start(controller.watches(maps)).await?;
    let held = async || -> Result<Option<String>> {
        let map = scene.api::<ConfigMap>().get_opt(name).await?;
        Ok(map.as_ref().and_then(value_of).map(str::to_owned))
    };

    scene.create(name, "first").await?;
    let created = operator.settled().await?;
    assert_eq!(created.runs_of(&key), 1);
    assert_eq!(
        created.written(),
        [
            format!("PATCH configmaps/{name} -> 201"),
            format!("PATCH clustertestresources/{name}/status -> 200")
        ]
    );
    assert_eq!(held().await?.as_deref(), Some("first"));

    scene.patch(name, json!({ "spec": { "value": "second" } })).await?;
    let updated = operator.settled().await?;
    assert_eq!(updated.runs_of(&key), 1);
    assert_eq!(held().await?.as_deref(), Some("second"));
    let status = scene.resources.get(name).await?.status.unwrap_or_default();
    assert_eq!(status.message.as_deref(), Some("second"));

    // A dependent that somebody else deletes comes back: its events find a primary without a namespace.
    scene.api::<ConfigMap>().delete(name, &kube::api::DeleteParams::default()).await?;
    let restored = operator.settled().await?;
    assert_eq!(restored.runs_of(&key), 1);
    assert_eq!(held().await?.as_deref(), Some("second"));

    scene.delete(name).await?;
    scene.until_gone(name).await?;
    let collected = async || Ok(held().await?.is_none().then_some(()));
    eventually("the garbage collector", collected).await?;
    // The collector can be quicker than the operator's watch of its primaries. A run that doesn't know yet that its primary
    // is gone restores the map, for the collector to take it again; no second run can.
    let deleted = operator.settled().await?;
    assert!(deleted.runs_of(&key) <= 1, "{deleted:?}");
    eventually("the garbage collector, once more", collected).await?;
    let quiet = operator.settled().await?;
    assert_eq!(quiet.runs_of(&key), 0);
    assert_eq!(quiet.written(), [""; 0]);
    Ok(())
}
