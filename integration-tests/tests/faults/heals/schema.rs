//! What doesn't fit a schema: an apply of a child, and a status that is newer than the installed definition.

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::DynamicObject;

use super::{assert_stalled, conditions, minutes, telling};
use crate::simulated::{scene, under};

/// A variable that is there twice: the commonest mistake of a desired object.
#[tokio::test(start_paused = true)]
async fn an_apply_that_the_schema_refuses_is_told_as_a_mistake_of_the_code() -> Result<()> {
    let scene = scene().await?;
    let desired = |primary: &TestResource| {
        let pod = json!({ "containers": [{ "name": "c", "image": "i:1", "env": [
            { "name": "A", "value": "1" }, { "name": "A", "value": "2" }] }] });
        let mut object = DynamicObject::new("", &kube::core::ApiResource::erase::<Deployment>(&()));
        object.metadata = map_of(primary, "a", "").metadata;
        object.data = json!({ "spec": { "selector": { "matchLabels": { "a": "b" } },
            "template": { "metadata": { "labels": { "a": "b" } }, "spec": pod } } });
        object
    };
    let desired = node(desired).named("a").kind(kube::core::ApiResource::erase::<Deployment>(&()));
    let workflow = Workflow::builder().nodes((desired,)).build()?;
    let applies = Rule::writes().resource("deployments").fault(Fault::Delay(Duration::ZERO));
    let faults = Faults::new([applies.clone()]);
    let _operator =
        under(&faults, &scene, telling(&scene, &workflow).retry(GenericRetry::no_retry())).await?;
    scene.create("one", "first").await?;
    minutes(60).await;
    assert_stalled(&scene, "doesn't fit the schema").await?;
    let before = applies.fired();
    minutes(60).await;
    let tried = applies.fired() - before;
    ensure!((12..=16).contains(&tried), "tried {tried} times in an hour");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_without_what_the_installed_definition_lacks() -> Result<()> {
    for applies in [true, false] {
        written_without(applies).await.with_context(|| format!("applied: {applies}"))?;
    }
    Ok(())
}

/// A status of a newer operator has two fields that the installed definition lacks, one of them in a list.
async fn written_without(applies: bool) -> Result<()> {
    const STATUS: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties";
    let scene = scene().await?;
    let new = serde_json::to_value(TestResource::crd())?;
    let mut old = new.clone();
    let fields = old.pointer_mut(STATUS).context("a status")?;
    fields.as_object_mut().context("fields")?.remove("message");
    let of_conditions = fields.pointer_mut("/conditions/items/properties").context("a list")?;
    of_conditions.as_object_mut().context("fields")?.remove("observedGeneration");
    let definitions = Api::<CustomResourceDefinition>::all(scene.client.clone());
    // A merge patch takes away only what it names.
    let define = async |definition: &Value| -> Result<()> {
        let mut live = serde_json::to_value(definitions.get(TestResource::crd_name()).await?)?;
        live["spec"] = definition["spec"].clone();
        let live = serde_json::from_value(live)?;
        definitions.replace(TestResource::crd_name(), &PostParams::default(), &live).await?;
        Ok(())
    };
    define(&old).await?;
    let writes =
        Rule::writes().resource("testresources").subresource("status").fault(Fault::Delay(Duration::ZERO));
    let faults = Faults::new([writes.clone()]);
    let controller = telling(&scene, &workflow_of_one(wanted_map("a"))?).use_ssa_to_patch_primary(applies);
    let _operator = under(&faults, &scene, controller).await?;
    scene.create("one", "first").await?;
    minutes(1).await;
    let told = conditions(&scene).await?;
    ensure!(told.get("Ready").is_some_and(|(status, _)| status == "True"), "{told:?}");
    let first = writes.fired();
    ensure!(first <= 3, "{first} writes of one status");
    // Nothing is written again by runs that change nothing, but for one attempt every few minutes.
    for round in 0..5 {
        let label = json!({ "metadata": { "labels": { "round": round.to_string() } } });
        scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &Patch::Merge(label)).await?;
        minutes(1).await;
    }
    ensure!(writes.fired() <= first + 1, "{} writes of the same status", writes.fired() - first);
    // With the definition comes the field.
    define(&new).await?;
    scene.set("one", "second").await?;
    minutes(10).await;
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    ensure!(status.message.as_deref() == Some("second"), "{status:?}");
    Ok(())
}
