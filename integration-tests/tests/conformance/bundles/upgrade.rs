//! Other versions of an operator: objects move between nodes, and nodes go.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, VolumeResourceRequirements,
};
use operator_core::{Objects, Wire as _};

use super::{addon, done, named, objects_of};

const KINDS: &str = "operator-core.io/kinds";

async fn kinds(scene: &Scene<TestResource>) -> Result<Option<String>> {
    Ok(scene.resources.get("one").await?.annotations().get(KINDS).cloned())
}

fn part(primary: &TestResource, at: usize) -> Objects {
    objects_of(primary.spec.value.split('|').nth(at).unwrap_or_default())
}

fn left(primary: &TestResource) -> Objects {
    part(primary, 0)
}

fn right(primary: &TestResource) -> Objects {
    part(primary, 1)
}

#[operator_test]
async fn an_object_that_moves_between_sets_is_taken_over_in_place() -> Result<()> {
    let scene = Scene::new("bundles-moves").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((left.may_be_empty(), right.may_be_empty()));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "c1 c2|s1").await?;
    operator.settled().await?;
    for value in ["c1|c2 s1", "c1 c2|s1"] {
        let before = scene.api::<ConfigMap>().get("c2").await?.uid();
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        let written = done(&operator.settled().await?);
        let deleted: Vec<_> = written.iter().filter(|line| line.starts_with("DELETE")).collect();
        assert!(deleted.is_empty(), "{value}: {written:?}");
        assert_eq!(scene.api::<ConfigMap>().get("c2").await?.uid(), before);
    }
    assert_eq!(
        kinds(&scene).await?.as_deref(),
        Some(r#"{"script/left":["ConfigMap"],"script/right":["Secret"]}"#)
    );
    Ok(())
}

#[operator_test]
async fn another_node_of_the_next_version_takes_the_objects_over_in_place() -> Result<()> {
    let scene = Scene::new("bundles-renamed").await?;
    let (script, _) = looking_on::<TestResource>();
    let before = script.controller().workflow((addon,)).namespaces([&scene.namespace]);
    let operator = scene.start(before).await?;
    scene.create("one", "c1 s1 x1").await?;
    operator.settled().await?;
    operator.stop().await;

    scene.patch("one", json!({ "spec": { "value": "c1 s1" } })).await?;
    let after = script.controller().workflow((left,)).namespaces([&scene.namespace]);
    let operator = scene.start(after).await?;
    let expected = [
        "DELETE services/x1 -> 200",
        "PATCH configmaps/c1 -> 200",
        "PATCH secrets/s1 -> 200",
        "PATCH testresources/one -> 200",
        "PATCH testresources/one -> 200",
    ];
    assert_eq!(done(&operator.settled().await?), expected);
    assert_eq!(kinds(&scene).await?.as_deref(), Some(r#"{"script/left":["ConfigMap","Secret"]}"#));
    Ok(())
}

/// One object for each way in which it may go.
fn various(_: &TestResource) -> Objects {
    let mut objects = Objects::new();
    objects.push(ConfigMap { metadata: named("goes"), ..ConfigMap::default() });
    objects.push(ConfigMap { metadata: named("first"), ..ConfigMap::default() }).delete_order(-1);
    objects.push(ConfigMap { metadata: named("stays"), ..ConfigMap::default() }).orphan();
    let requests = [("storage".to_owned(), from_json(&json!("1Gi")).expect("a quantity"))].into();
    let resources = VolumeResourceRequirements { requests: Some(requests), ..Default::default() };
    let access_modes = Some(vec!["ReadWriteOnce".to_owned()]);
    let spec = PersistentVolumeClaimSpec { access_modes, resources: Some(resources), ..Default::default() };
    objects.push(PersistentVolumeClaim { metadata: named("data"), spec: Some(spec), ..Default::default() });
    objects
}

fn config(primary: &TestResource) -> ConfigMap {
    ConfigMap { metadata: named(&format!("{}-config", primary.name_any())), ..ConfigMap::default() }
}

#[operator_test]
async fn what_a_former_set_has_left_goes_in_its_order_and_by_its_policies() -> Result<()> {
    let scene = Scene::new("bundles-former").await?;
    let (script, _) = looking_on::<TestResource>();
    let before = script.controller().workflow((various.ready_when_applied(),)).namespaces([&scene.namespace]);
    let operator = scene.start(before).await?;
    scene.create("one", "").await?;
    operator.settled().await?;
    operator.stop().await;

    let after = script.controller().workflow((config,)).namespaces([&scene.namespace]);
    let operator = scene.start(after).await?;
    let settled = operator.settled().await?;
    // As in `done`, but in their order.
    let took_effect = |line: &String| line.starts_with("DELETE") && !line.ends_with("-> 404");
    let deleted: Vec<_> = settled.written().into_iter().filter(took_effect).collect();
    assert_eq!(deleted, ["DELETE configmaps/first -> 200", "DELETE configmaps/goes -> 200"], "in this order");
    let stays = scene.api::<ConfigMap>().get("stays").await?;
    assert!(stays.labels().is_empty(), "{:?}", stays.labels());
    // Data is lost only if somebody says so.
    assert!(scene.api::<PersistentVolumeClaim>().get("data").await?.metadata.deletion_timestamp.is_none());
    assert_eq!(kinds(&scene).await?, None);
    Ok(())
}

#[operator_test]
async fn a_node_that_is_no_longer_a_set_keeps_its_object_and_prunes_the_others() -> Result<()> {
    let scene = Scene::new("bundles-no-set").await?;
    let (script, _) = looking_on::<TestResource>();
    let before = script.controller().workflow((addon.named("config"),)).namespaces([&scene.namespace]);
    let operator = scene.start(before).await?;
    scene.create("one", "cone-config s1").await?;
    operator.settled().await?;
    operator.stop().await;

    let only = |_: &TestResource| ConfigMap { metadata: named("cone-config"), ..ConfigMap::default() };
    let after = script.controller().workflow((only.named("config"),)).namespaces([&scene.namespace]);
    let operator = scene.start(after).await?;
    let expected =
        ["DELETE secrets/s1 -> 200", "PATCH configmaps/cone-config -> 200", "PATCH testresources/one -> 200"];
    assert_eq!(done(&operator.settled().await?), expected);
    assert_eq!(kinds(&scene).await?, None);
    Ok(())
}

#[operator_test]
async fn a_primary_that_ends_takes_along_what_a_former_set_has_left() -> Result<()> {
    let scene = Scene::new("bundles-former-end").await?;
    let (script, _) = looking_on::<TestResource>();
    let before = script.controller().workflow((addon, various)).namespaces([&scene.namespace]);
    let operator = scene.start(before).await?;
    scene.create("one", "c1 s1").await?;
    operator.settled().await?;
    operator.stop().await;

    scene.delete("one").await?;
    let after = script.controller().workflow((addon,)).namespaces([&scene.namespace]);
    let operator = scene.start(after).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    for name in ["c1", "goes", "first"] {
        assert!(scene.api::<ConfigMap>().get_opt(name).await?.is_none(), "{name}");
    }
    assert!(scene.api::<ConfigMap>().get_opt("stays").await?.is_some());
    Ok(())
}

#[operator_test]
async fn what_a_backup_has_brought_back_is_taken_over_as_it_is() -> Result<()> {
    let scene = Scene::new("bundles-backup").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((addon,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;
    scene.create("one", "c1 c2 s1").await?;
    operator.settled().await?;
    operator.stop().await;

    // A backup has what users of the API can write: no uid, no status.
    let (maps, secrets) = (scene.api::<ConfigMap>(), scene.api::<Secret>());
    let mut one = scene.resources.get("one").await?;
    let (mut c1, mut c2, mut s1) = (maps.get("c1").await?, maps.get("c2").await?, secrets.get("s1").await?);
    let lost = json!({ "metadata": { "finalizers": null } });
    scene.patch("one", lost).await?;
    scene.delete("one").await?;
    for map in ["c1", "c2"] {
        maps.delete(map, &Default::default()).await?;
    }
    secrets.delete("s1", &Default::default()).await?;
    for meta in [&mut one.metadata, &mut c1.metadata, &mut c2.metadata, &mut s1.metadata] {
        (meta.uid, meta.resource_version, meta.managed_fields) = (None, None, None);
    }
    secrets.create(&PostParams::default(), &s1).await?;
    for map in [&c1, &c2] {
        maps.create(&PostParams::default(), map).await?;
    }
    scene.resources.create(&PostParams::default(), &one).await?;

    let operator = scene.start(controller()).await?;
    let written = done(&operator.settled().await?);
    let anew: Vec<_> =
        written.iter().filter(|line| !line.ends_with("-> 200") || !line.starts_with("PATCH")).collect();
    assert!(anew.is_empty(), "{written:?}");
    scene.patch("one", json!({ "spec": { "value": "c1" } })).await?;
    assert_eq!(
        done(&operator.settled().await?),
        ["DELETE configmaps/c2 -> 200", "DELETE secrets/s1 -> 200", "PATCH testresources/one -> 200"]
    );
    Ok(())
}
