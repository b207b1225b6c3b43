//! What comes later waits for what comes before.

use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use operator_core::{BoxError, Objects};

use super::objects_of;

/// Kinds of which the servers know nothing yet: each test defines its own.
fn group(test: &str) -> String {
    format!("bundle-{test}.conformance.operator-core.io")
}

fn definition(test: &str) -> Result<Objects, BoxError> {
    let group = group(test);
    Ok(Objects::from_yaml(&format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{ name: parts.{group} }}
spec:
  group: {group}
  scope: Namespaced
  names: {{ kind: Part, plural: parts }}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {{ status: {{}} }}
    schema: {{ openAPIV3Schema: {{ type: object, x-kubernetes-preserve-unknown-fields: true }} }}
"
    ))?)
}

fn resource(test: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(&group(test), "v1", "Part"))
}

fn part(test: &str, name: &str) -> DynamicObject {
    DynamicObject::new(name, &resource(test))
}

fn parts(scene: &Scene<TestResource>, test: &str) -> Result<Api<DynamicObject>> {
    Ok(Api::namespaced_with(scene.cluster.client()?, &scene.namespace, &resource(test)))
}

fn with_its_definition(_: &TestResource) -> Result<Objects, BoxError> {
    let mut objects = Objects::new();
    objects.push(part("order", "part"));
    objects.extend(definition("order")?);
    Ok(objects)
}

async fn all_ready(outcomes: &Outcomes<TestResource>) -> Result<()> {
    eventually("all to be ready", async || {
        Ok(outcomes.last("one").is_some_and(|result| result.all_ready()).then_some(()))
    })
    .await
}

#[operator_test]
async fn a_definition_comes_before_its_instance_in_one_set() -> Result<()> {
    let scene = Scene::new("bundles-definition").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((with_its_definition,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "1").await?;
    all_ready(&outcomes).await?;
    let written = operator.settled().await?.written();
    let at = |text: &str| written.iter().position(|line| line.contains(text));
    assert!(at("customresourcedefinitions/") < at("parts/"), "{written:?}");
    scene.delete("one").await?;
    scene.until_gone("one").await
}

/// Something that takes its time, and what comes after it.
fn in_two_waves(primary: &TestResource) -> Result<Objects, BoxError> {
    let mut objects = definition("slow")?;
    let mut after = ConfigMap::default();
    after.metadata.name = Some("after".to_owned());
    after.data = Some([("value".to_owned(), primary.spec.value.clone())].into());
    objects.push(after).wave(1);
    objects.push(part("slow", "slow")).has_ready_condition();
    Ok(objects)
}

#[operator_test]
async fn a_wave_waits_until_the_one_before_was_seen_ready_also_in_another_process() -> Result<()> {
    let scene = Scene::new("bundles-slow").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((in_two_waves,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;
    scene.create("one", "1").await?;
    let parts = parts(&scene, "slow")?;
    eventually("the slow one", async || Ok(parts.get_opt("slow").await.ok().flatten())).await?;
    let first = operator.settled().await?.written();
    assert!(first.iter().all(|line| !line.contains("configmaps/")), "{first:?}");
    let told = outcomes.lines("one").join(" ");
    assert!(told.contains("1/3 ready; Part"), "{told}");

    operator.stop().await;
    let operator = scene.start(controller()).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty(), "nothing has changed: {:?}", settled.requests);

    let ready = json!({ "status": { "conditions": [{ "type": "Ready", "status": "True" }] } });
    parts.patch_status("slow", &PatchParams::default(), &Patch::Merge(ready)).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/after -> 201"]);
    all_ready(&outcomes).await
}

fn with_an_instance(_: &TestResource) -> Result<Objects, BoxError> {
    let mut objects = definition("foreign")?;
    objects.push(part("foreign", "ours"));
    Ok(objects)
}

#[operator_test]
async fn nothing_is_touched_while_somebody_else_has_an_object_of_a_kind_that_would_go() -> Result<()> {
    let scene = Scene::new("bundles-foreign").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((with_an_instance,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "1").await?;
    all_ready(&outcomes).await?;
    let parts = parts(&scene, "foreign")?;
    parts.create(&PostParams::default(), &part("foreign", "theirs")).await?;
    operator.settled().await?;

    scene.delete("one").await?;
    let written = operator.settled().await?.written();
    assert!(written.is_empty(), "{written:?}");
    assert!(parts.get_opt("ours").await?.is_some());

    parts.delete("theirs", &Default::default()).await?;
    scene.until_gone("one").await?;
    let written = operator.settled().await?.written();
    let at = |text: &str| written.iter().position(|line| line.starts_with("DELETE") && line.contains(text));
    assert!(at("parts/ours").is_some() && at("parts/ours") < at("customresourcedefinitions/"), "{written:?}");
    // Its kind is followed by nobody any more.
    eventually("a healthy operator", async || {
        Ok(operator.unhealthy_sources().await.is_empty().then_some(()))
    })
    .await?;
    Ok(())
}

/// Defines nothing itself.
fn an_account(_: &TestResource) -> Objects {
    objects_of("s-of-an-operator")
}

#[operator_test]
async fn nothing_is_touched_while_there_is_an_object_of_a_kind_that_it_manages() -> Result<()> {
    let scene = Scene::new("bundles-managed").await?;
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let definitions: Api<DynamicObject> =
        Api::all_with(scene.cluster.client()?, &ApiResource::from_gvk(&kind));
    for definition in definition("managed").map_err(|error| anyhow::anyhow!(error))?.iter_mut() {
        definitions.create(&PostParams::default(), definition).await?;
    }
    let (script, outcomes) = looking_on::<TestResource>();
    let types = |_: &TestResource| vec![(group("managed"), "Part".to_owned())];
    let controller = script.controller().workflow((node(an_account).managed_types(types),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "1").await?;
    all_ready(&outcomes).await?;
    operator.settled().await?;
    let parts = parts(&scene, "managed")?;
    let theirs = part("managed", "theirs");
    eventually("the kind", async || Ok(parts.create(&PostParams::default(), &theirs).await.ok())).await?;

    scene.delete("one").await?;
    let written = operator.settled().await?.written();
    assert!(written.is_empty(), "{written:?}");
    parts.delete("theirs", &Default::default()).await?;
    scene.until_gone("one").await?;
    let written = operator.settled().await?.written();
    assert!(written.iter().any(|line| line == "DELETE secrets/s-of-an-operator -> 200"), "{written:?}");
    definitions.delete(&format!("parts.{}", group("managed")), &Default::default()).await?;
    Ok(())
}
