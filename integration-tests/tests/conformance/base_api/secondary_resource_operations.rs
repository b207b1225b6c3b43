//! Each type of write of a secondary: the written values are there, and the write causes no further run.

use integration_tests::prelude::*;
use operator_core::Context;

/// Sees to a config map with the primary's value, in the way that the primary's name says.
async fn write(primary: &TestResource, context: &Context<TestResource>) -> Result<()> {
    let (operations, value) = (context.resource_operations(), &primary.spec.value);
    let desired = config_map(primary, context, value);
    let name = primary.metadata.name.as_deref().unwrap_or_default();
    let written = match (name, context.secondary::<ConfigMap>()?) {
        ("ssa", _) => operations.server_side_apply(&desired).await?.object()?,
        (_, None) => operations.create(&desired).await?,
        ("create", Some(actual)) => actual,
        ("put", Some(actual)) => {
            let replacement = ConfigMap { data: desired.data, ..(*actual).clone() };
            operations.update(&replacement).await?
        }
        ("json", Some(actual)) => {
            operations.json_patch(&*actual, |map| map.data.clone_from(&desired.data)).await?
        }
        ("merge", Some(actual)) => {
            operations.merge_patch(&*actual, json!({ "data": { "value": value } })).await?
        }
        (other, _) => bail!("no way to write {other}"),
    };
    let seen = context.secondary::<ConfigMap>()?;
    anyhow::ensure!(
        seen.is_some_and(|seen| seen.metadata.resource_version == written.metadata.resource_version),
        "own writes are read back"
    );
    Ok(())
}

async fn check(name: &'static str, created_by: &str, updated_by: &[&str]) -> Result<()> {
    let scene = Scene::new("secondary-resource-operations").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            write(&primary, context).await?;
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().owns::<ConfigMap>().namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;

    scene.create(name, "first").await?;
    let created = operator.settled().await?;
    assert_eq!(created.written(), [created_by]);
    assert_eq!(created.runs_of(&scene.key(name)), 1, "an own creation causes no run");

    let value = if updated_by.is_empty() { "first" } else { "second" };
    scene.patch(name, json!({ "spec": { "value": "second" } })).await?;
    let updated = operator.settled().await?;
    assert_eq!(updated.written(), updated_by);
    assert_eq!(updated.runs_of(&scene.key(name)), 1, "an own update causes no run");
    let map: ConfigMap = scene.api().get(name).await?;
    assert_eq!(value_of(&map), Some(value));
    Ok(())
}

#[operator_test]
async fn create() -> Result<()> {
    check("create", "POST configmaps/create -> 201", &[]).await
}

#[operator_test]
async fn server_side_apply() -> Result<()> {
    check("ssa", "PATCH configmaps/ssa -> 201", &["PATCH configmaps/ssa -> 200"]).await
}

#[operator_test]
async fn put() -> Result<()> {
    check("put", "POST configmaps/put -> 201", &["PUT configmaps/put -> 200"]).await
}

#[operator_test]
async fn json_patch() -> Result<()> {
    check("json", "POST configmaps/json -> 201", &["PATCH configmaps/json -> 200"]).await
}

#[operator_test]
async fn merge_patch() -> Result<()> {
    check("merge", "POST configmaps/merge -> 201", &["PATCH configmaps/merge -> 200"]).await
}
