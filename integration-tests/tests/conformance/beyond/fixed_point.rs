//! The matcher's answers about the objects of its table agree with the behaviour of today's API server.

use std::{fs, path::Path};

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, TypeMeta};
use operator_core::{
    bench::{merged, still_owned},
    dependent::matcher::{GenericMatcher, Match},
};

const MANAGER: &str = "test";

/// The desired objects of the matchers' table by the names of their files.
fn desired() -> Result<Vec<(String, Value)>> {
    let folder = "../operator-core/src/operations/matcher/tests/cases";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut objects = Vec::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let mut case: Value = serde_saphyr::from_str(&fs::read_to_string(&path)?)?;
        objects.push((
            path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            case["desired"].take(),
        ));
    }
    // Its custom resource is not installed here.
    objects.retain(|(name, _)| name != "gadget");
    Ok(objects)
}

fn api(scene: &Scene, object: &Value) -> Result<Api<DynamicObject>> {
    let kind = GroupVersionKind::try_from(serde_json::from_value::<TypeMeta>(object.clone())?)?;
    Ok(Api::namespaced_with(scene.client.clone(), &scene.namespace, &ApiResource::from_gvk(&kind)))
}

async fn applied(api: &Api<DynamicObject>, desired: &Value) -> Result<Value> {
    let name = desired["metadata"]["name"].as_str().context("an object has a name")?;
    let answer = api.patch(name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(desired)).await?;
    Ok(serde_json::to_value(answer)?)
}

/// The object after a PUT of the merged body; again from its newest state where a controller of the server's own came in
/// between, as with the usage of a quota.
async fn replaced(api: &Api<DynamicObject>, mut actual: Value, desired: &Value) -> Result<Value> {
    let name = desired["metadata"]["name"].as_str().context("an object has a name")?;
    loop {
        let body = serde_json::from_value(merged(&actual, desired))?;
        match api.replace(name, &PostParams::default(), &body).await {
            Ok(answer) => return Ok(serde_json::to_value(answer)?),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                actual = serde_json::to_value(api.get(name).await?)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn owned(desired: &Value, actual: &Value) -> Result<Match> {
    let managed: Vec<ManagedFieldsEntry> =
        serde_json::from_value(actual["metadata"]["managedFields"].clone())?;
    Ok(still_owned(desired, &managed, MANAGER))
}

/// An object without what the server's controllers write at any time: a quota's usage, for example.
fn decided_by_us(mut object: Value) -> Value {
    let generation = object["metadata"]["generation"].take();
    object["status"] = Value::Null;
    object["metadata"] = generation;
    object
}

#[operator_test]
async fn what_was_applied_is_owned_and_applying_it_again_changes_nothing() -> Result<()> {
    let scene = Scene::new("fixed-point-applied").await?;
    for (name, mut desired) in desired()? {
        desired["metadata"]["namespace"] = scene.namespace.as_str().into();
        let api = api(&scene, &desired)?;
        let actual = applied(&api, &desired).await.with_context(|| name.clone())?;
        assert_eq!(owned(&desired, &actual)?, Match::Equal, "{name}: {actual:#}");

        let again = applied(&api, &desired).await.with_context(|| name.clone())?;
        assert_eq!(decided_by_us(again), decided_by_us(actual), "{name}");
    }
    Ok(())
}

#[operator_test]
async fn what_was_replaced_matches() -> Result<()> {
    let scene = Scene::new("fixed-point-replaced").await?;
    for (name, mut desired) in desired()? {
        // The server sets the selector and labels of a Job, and refuses a Job without them.
        if name == "job" {
            continue;
        }
        desired["metadata"]["namespace"] = scene.namespace.as_str().into();
        let api = api(&scene, &desired)?;
        let created = api.create(&PostParams::default(), &serde_json::from_value(desired.clone())?).await;
        let created = serde_json::to_value(created.with_context(|| name.clone())?)?;
        assert_eq!(GenericMatcher::new().matches(&desired, &created), Match::Equal, "{name}: {created:#}");

        let replaced = replaced(&api, created, &desired).await.with_context(|| name.clone())?;
        assert_eq!(GenericMatcher::new().matches(&desired, &replaced), Match::Equal, "{name}: {replaced:#}");
    }
    Ok(())
}
