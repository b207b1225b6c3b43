//! A Secret that is created only while a config map that the primary names allows it, with content from the config map:
//! a change of the config map triggers the primary.

use integration_tests::prelude::*;
use k8s_openapi::ByteString;
use operator_core::{Context, Want, Wire as _, dependent::Read};

fn named(primary: &TestResource) -> Vec<ObjectKey> {
    let namespace = primary.metadata.namespace.as_deref().unwrap_or_default();
    vec![ObjectKey::namespaced(namespace, &primary.spec.value)]
}

/// Others make it.
fn map(_: &TestResource) -> Read<ConfigMap> {
    Read::only()
}

/// Wanted while the config map says so.
fn secret(primary: &TestResource, context: &Context<TestResource>) -> Result<Want<Secret>, BoxError> {
    let map = context.secondary::<ConfigMap>()?.ok_or("the node depends on the config map")?;
    let data = map.data.clone().unwrap_or_default();
    if !data.contains_key("allow") {
        return Ok(Want::none("the config map doesn't allow it"));
    }
    let data = data.into_iter().map(|(name, value)| (name, ByteString(value.into_bytes())));
    let metadata = meta_of(primary, "secret");
    Ok(Want::of(Secret { metadata, data: Some(data.collect()), ..Secret::default() }))
}

/// What the Secret holds.
async fn held(scene: &Scene) -> Result<BTreeMap<String, String>> {
    let data = scene.api::<Secret>().get("one-secret").await?.data.unwrap_or_default();
    data.into_iter().map(|(name, value)| Ok((name, String::from_utf8(value.0)?))).collect()
}

#[operator_test]
async fn the_secret_follows_the_config_map_that_the_primary_refers_to() -> Result<()> {
    let scene = Scene::new("primary-to-secondary-dependent").await?;
    let map = node(map).event_source("named");
    let workflow = Workflow::builder().nodes((secret.after(&map), map)).build()?;
    let controller = scene
        .managed(&Script::idle(), &workflow)
        .watches_referenced(InformerEventSource::<ConfigMap>::new().name("named"), named);
    let operator = scene.start(controller).await?;
    let maps = scene.api::<ConfigMap>();
    maps.create(
        &PostParams::default(),
        &integration_tests::from_json(&json!({ "metadata": { "name": "gate" } }))?,
    )
    .await?;
    scene.create("one", "gate").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    let set = async |data: serde_json::Value| {
        let patch = Patch::Merge(json!({ "data": data }));
        anyhow::Ok(maps.patch("gate", &PatchParams::default(), &patch).await?)
    };
    set(json!({ "allow": "yes" })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH secrets/one-secret -> 201"]);
    assert_eq!(held(&scene).await?, [("allow".to_owned(), "yes".to_owned())].into());
    set(json!({ "password": "first" })).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH secrets/one-secret -> 200"]);
    assert_eq!(held(&scene).await?.remove("password").as_deref(), Some("first"));
    set(json!({ "allow": null })).await?;
    assert_eq!(operator.settled().await?.written(), ["DELETE secrets/one-secret -> 200"]);
    assert!(scene.api::<Secret>().get_opt("one-secret").await?.is_none());
    Ok(())
}
