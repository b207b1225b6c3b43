//! Functions whose objects' kind is known only at run time: the node declares it, and everything else is as with any other.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    CustomResource,
    core::{ApiResource, DynamicObject, TypeMeta},
};
use operator_core::{ControllerConfiguration, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{done, says};

fn object(content: Value) -> DynamicObject {
    DynamicObject { types: None, metadata: Default::default(), data: content }
}

fn maps() -> ApiResource {
    ApiResource::erase::<ConfigMap>(&())
}

/// Determines only its content: name, namespace and kind are its node's.
fn settings(primary: &TestResource) -> Option<DynamicObject> {
    (!says(primary, "off")).then(|| object(json!({ "data": { "value": primary.spec.value } })))
}

/// Determines its kind, which is also its node's, and its name.
fn words(primary: &TestResource) -> Result<Want<Vec<DynamicObject>>> {
    let words = primary.spec.value.split(' ').map(|word| {
        let name = format!("{}-{word}", primary.name_any());
        DynamicObject::new(&name, &maps()).data(json!({ "data": { "word": word } }))
    });
    Ok(Want::of(words.collect()))
}

fn has_value(map: &DynamicObject) -> bool {
    map.data["data"]["value"].is_string()
}

fn status_of(_: &TestResource, run: &Run<TestResource>) -> Option<String> {
    let map: Option<Arc<DynamicObject>> = run.get(settings);
    let words: Vec<Arc<DynamicObject>> = run.get(words);
    Some(format!("{}, {} words", map?.data["data"]["value"].as_str()?, words.len()))
}

fn status(primary: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let value = status_of(primary, run).unwrap_or_else(|| "nothing".to_owned());
    TestStatus { message: Some(value), ..TestStatus::default() }
}

#[operator_test]
async fn an_object_of_a_kind_that_its_node_says_is_created_changed_and_removed() -> Result<()> {
    let scene = Scene::new("functions-kinds").await?;
    let controller = Controller::of::<TestResource>()
        .workflow((settings.kind(maps()).ready(has_value), words.after(settings).kind(maps())))
        .status(status);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let sorted = |mut writes: Vec<String>| {
        writes.sort();
        writes
    };

    scene.create("one", "a b").await?;
    let expected = [
        "PATCH configmaps/one-a -> 201",
        "PATCH configmaps/one-b -> 201",
        "PATCH configmaps/one-settings -> 201",
        "PATCH testresources/one/status -> 200",
    ];
    assert_eq!(sorted(done(&operator.settled().await?)), expected);
    let told = async || {
        Ok::<_, anyhow::Error>(
            scene.api::<TestResource>().get("one").await?.status.and_then(|status| status.message),
        )
    };
    assert_eq!(told().await?.as_deref(), Some("a b, 2 words"));
    scene.until_values([("one-settings", "a b")]).await?;

    scene.set("one", "a c").await?;
    let expected = [
        "DELETE configmaps/one-b -> 200",
        "PATCH configmaps/one-c -> 201",
        "PATCH configmaps/one-settings -> 200",
        "PATCH testresources/one/status -> 200",
    ];
    assert_eq!(sorted(done(&operator.settled().await?)), expected);

    scene.set("one", "off").await?;
    operator.settled().await?;
    assert_eq!(told().await?.as_deref(), Some("nothing"));
    scene.until_nothing_is_left_of("one").await
}

/// The written object is of the node's kind, so another kind in a function's result isn't a mistake.
fn another(_: &TestResource) -> DynamicObject {
    DynamicObject { types: Some(TypeMeta::resource::<Deployment>()), ..object(json!({})) }
}

#[operator_test]
async fn what_a_function_says_of_another_kind_is_a_mistake() -> Result<()> {
    let scene = Scene::new("functions-another-kind").await?;
    let controller = Controller::of::<TestResource>().workflow((another.kind(maps()),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.failures.expect(
        "`another` is a node of v1 ConfigMap, but the object it returns is of apps/v1 Deployment; both must be of the same kind",
    );
    scene.create("one", "a").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    Ok(())
}

/// What the operator can do without, and knows the name of only.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "kinds.conformance.operator-core.io", version = "v1", kind = "Gizmo", namespaced)]
struct GizmoSpec {
    value: String,
}

fn gizmos() -> ApiResource {
    ApiResource::erase::<Gizmo>(&())
}

fn gizmo(primary: &TestResource) -> DynamicObject {
    object(json!({ "spec": { "value": primary.spec.value } }))
}

#[derive(ControllerConfiguration)]
#[controller(primary = TestResource)]
#[workflow(gizmo(kind(gizmos()), when_served))]
struct Derived;

#[operator_test]
async fn a_kind_that_is_known_at_run_time_may_be_missing() -> Result<()> {
    let scene = Scene::new("functions-kind-missing").await?;
    let started = scene.start(Derived.controller().namespaces([&scene.namespace])).await;
    let operator = started.expect("nothing is watched that the cluster doesn't serve");
    scene.create("one", "a").await?;
    assert!(done(&operator.settled().await?).is_empty());

    scene.cluster.install_crds([Gizmo::crd()]).await?;
    let made = eventually("the gizmo", async || Ok(scene.api::<Gizmo>().get_opt("one-gizmo").await?)).await?;
    assert_eq!(made.spec.value, "a");
    Ok(())
}

/// One for each primary, outside of all namespaces.
fn place(primary: &TestResource) -> DynamicObject {
    let name = format!("place-of-{}", primary.namespace().unwrap_or_default());
    DynamicObject::new(&name, &namespaces())
}

fn namespaces() -> ApiResource {
    ApiResource::erase::<Namespace>(&())
}

#[derive(ControllerConfiguration)]
#[controller(primary = TestResource)]
#[workflow(place(kind(namespaces()), cluster_scoped, without_owner))]
struct Places;

#[operator_test]
async fn a_kind_without_a_namespace_is_said_so() -> Result<()> {
    let scene = Scene::new("functions-kind-scope").await?;
    let node = node(place).cluster_scoped().without_owner();
    let controller = Controller::of::<TestResource>().workflow((node.kind(namespaces()),));
    a_place_is_made(&scene, controller).await
}

#[operator_test]
async fn a_kind_without_a_namespace_is_said_so_in_the_derive() -> Result<()> {
    let scene = Scene::new("derived-kind-scope").await?;
    a_place_is_made(&scene, Places.controller()).await
}

async fn a_place_is_made(
    scene: &Scene,
    controller: ControllerBuilder<impl Reconciler<Primary = TestResource>>,
) -> Result<()> {
    let started = scene.start(controller.namespaces([&scene.namespace])).await;
    let operator = started.expect("they are looked for outside of all namespaces");
    scene.create("one", "a").await?;
    let expected = format!("PATCH namespaces/place-of-{} -> 201", scene.namespace);
    assert!(done(&operator.settled().await?).contains(&expected));
    Ok(())
}

/// A definition of objects of any content.
fn definition(group: &str, plural: &str, kind: &str) -> Result<CustomResourceDefinition> {
    let names = json!({ "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List") });
    let schema =
        json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    Ok(serde_json::from_value(json!({
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group, "scope": "Namespaced", "names": names,
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
        },
    }))?)
}

fn content(_: &TestResource) -> DynamicObject {
    object(json!({ "spec": { "a": 1 } }))
}

#[operator_test]
async fn the_server_is_asked_for_the_plural_of_a_kind() -> Result<()> {
    const GROUP: &str = "plurals.conformance.operator-core.io";
    let scene = Scene::new("functions-plurals").await?;
    let kinds =
        [("network-attachment-definitions", "NetworkAttachmentDefinition"), ("oxen", "Ox"), ("data", "Data")];
    let definitions = kinds.map(|(plural, kind)| definition(GROUP, plural, kind));
    scene.cluster.install_crds(definitions.into_iter().collect::<Result<Vec<_>>>()?).await?;
    let api_version = format!("{GROUP}/v1");
    let child = |number: usize, name: &'static str| {
        content.named(name).kind((&*api_version, kinds[number].1)).ready_when_applied()
    };
    let nodes = (child(0, "attachment"), child(1, "ox"), child(2, "data").when_served());
    let controller = Controller::of::<TestResource>().workflow(nodes);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    let mut made = done(&operator.settled().await?);
    made.sort();
    let expected = [
        "PATCH data/one-data -> 201",
        "PATCH network-attachment-definitions/one-attachment -> 201",
        "PATCH oxen/one-ox -> 201",
    ];
    assert_eq!(made, expected);
    Ok(())
}

fn service(_: &TestResource) -> Result<Service> {
    Ok(serde_json::from_value(json!({ "spec": { "ports": [{ "port": 80 }] } }))?)
}

#[operator_test]
async fn kinds_of_one_name_in_several_groups_are_told_apart() -> Result<()> {
    let scene = Scene::new("functions-groups").await?;
    let groups = ["serving.conformance.operator-core.io", "meshes.conformance.operator-core.io"];
    let definitions = groups.map(|group| definition(group, "services", "Service"));
    scene.cluster.install_crds(definitions.into_iter().collect::<Result<Vec<_>>>()?).await?;
    let kinds = groups.map(|group| format!("{group}/v1"));
    let child = |number: usize, name: &'static str| {
        content.named(name).kind((&*kinds[number], "Service")).ready_when_applied()
    };
    let controller =
        Controller::of::<TestResource>().workflow((service, child(0, "serving"), child(1, "mesh")));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    let mut made = done(&operator.settled().await?);
    made.sort();
    let expected = ["mesh", "service", "serving"].map(|node| format!("PATCH services/one-{node} -> 201"));
    assert_eq!(made, expected);
    Ok(())
}
