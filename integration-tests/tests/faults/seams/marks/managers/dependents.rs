//! What dependents have applied.

use futures::FutureExt;
use integration_tests::prelude::*;
use operator_core::{Node, One};

use super::{Requests, after, pass, scene, somebodys_map, upgraded, who};

/// What is done where something was applied under another field manager and a field is wanted no more.
const TAKEN_OVER: [&str; 3] =
    ["get configmaps/one-a 200", "json patch configmaps/one-a 200", "apply configmaps/one-a 200"];

/// A dependent whose map has these keys.
fn map_with(keys: &'static [&'static str]) -> Node<TestResource, One<ConfigMap>> {
    wanted("a", move |primary: &TestResource| {
        let data = keys.iter().map(|key| ((*key).to_owned(), "ours".to_owned())).collect();
        ConfigMap { data: Some(data), ..map_of(primary, "a", "") }
    })
}

/// A version of the controller whose map has these keys.
fn version(scene: &Scene, keys: &'static [&'static str]) -> Result<ControllerBuilder<Script>> {
    Ok(scene.managed(&Script::idle(), &workflow_of_one(map_with(keys))?))
}

/// Somebody applies this to the map.
async fn applied_by(scene: &Scene, manager: &str, data: Value) -> Result<()> {
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": data });
    scene.api::<ConfigMap>().patch("one-a", &PatchParams::apply(manager), &Patch::Apply(map)).await?;
    Ok(())
}

/// The keys of the map, and who has applied it.
async fn found(scene: &Scene) -> Result<(Vec<String>, Vec<String>)> {
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    let mut managers: Vec<_> = map.managed_fields().iter().map(who).collect();
    managers.sort_unstable();
    Ok((map.data.unwrap_or_default().into_keys().collect(), managers))
}

/// What is expected of [`found`].
fn left(keys: &[&str], managers: &[&str]) -> (Vec<String>, Vec<String>) {
    let owned = |all: &[&str]| all.iter().map(ToString::to_string).collect();
    (owned(keys), owned(managers))
}

#[operator_test]
async fn what_a_retired_manager_has_applied_goes_when_it_is_wanted_no_more() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["dropped", "kept"])?.field_manager("older")).await?;
    applied_by(&scene, "others", json!({ "theirs": "theirs" })).await?;
    let of_others = |map: ConfigMap| {
        let mut entries = map.metadata.managed_fields.into_iter().flatten();
        entries.find(|entry| entry.manager.as_deref() == Some("others"))
    };
    let before = of_others(scene.api::<ConfigMap>().get("one-a").await?);
    let newer = || Ok(version(&scene, &["kept"])?.field_manager("newer").retired_field_managers(["older"]));
    assert_eq!(upgraded(&scene, &requests, newer).await?, TAKEN_OVER);
    assert_eq!(found(&scene).await?, left(&["kept", "theirs"], &["newer Apply", "others Apply"]));
    assert_eq!(of_others(scene.api::<ConfigMap>().get("one-a").await?), before, "the entry of others");
    Ok(())
}

#[operator_test]
async fn what_is_wanted_as_before_is_taken_over_by_one_write() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["kept"])?.field_manager("older")).await?;
    let newer = || Ok(version(&scene, &["kept"])?.field_manager("newer").retired_field_managers(["older"]));
    assert_eq!(upgraded(&scene, &requests, newer).await?, TAKEN_OVER[..2]);
    assert_eq!(found(&scene).await?, left(&["kept"], &["newer Apply"]));
    Ok(())
}

/// By default the field manager is the controller's name, the present one or a former one.
#[operator_test]
async fn the_default_manager_is_retired_without_being_named() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["dropped", "kept"])?).await?;
    let newer = || Ok(version(&scene, &["kept"])?.field_manager("newer"));
    assert_eq!(upgraded(&scene, &requests, newer).await?, TAKEN_OVER);
    assert_eq!(found(&scene).await?, left(&["kept"], &["newer Apply"]));

    let scene = Scene::new("retired-managers").await?;
    after(&scene, version(&scene, &["dropped", "kept"])?.name("older")).await?;
    let newer = || Ok(version(&scene, &["kept"])?.name("newer").formerly(["oldest", "older"]));
    assert_eq!(upgraded(&scene, &requests, newer).await?, TAKEN_OVER);
    assert_eq!(found(&scene).await?, left(&["kept"], &["newer Apply"]));
    Ok(())
}

#[operator_test]
async fn several_retired_managers_are_taken_over_by_one_write() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["dropped", "kept"])?.field_manager("older")).await?;
    applied_by(&scene, "oldest", json!({ "dropped-before": "ours" })).await?;
    applied_by(&scene, "newer", json!({ "kept": "ours", "dropped-again": "ours" })).await?;
    let newer = || {
        let retired = ["older", "oldest"];
        Ok(version(&scene, &["kept"])?.field_manager("newer").retired_field_managers(retired))
    };
    assert_eq!(upgraded(&scene, &requests, newer).await?, TAKEN_OVER);
    assert_eq!(found(&scene).await?, left(&["kept"], &["newer Apply"]));
    Ok(())
}

#[operator_test]
async fn a_take_over_that_is_overtaken_is_made_from_the_live_object() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["dropped", "kept"])?.field_manager("older")).await?;
    let of_others = scene.clone();
    *requests.before.lock() = Some(Box::new(move || {
        let scene = of_others.clone();
        async move { applied_by(&scene, "another", json!({ "theirs": "theirs" })).await }.boxed()
    }));
    let newer = || Ok(version(&scene, &["kept"])?.field_manager("newer").retired_field_managers(["older"]));
    let overtaken = ["get configmaps/one-a 200", "json patch configmaps/one-a 422"];
    assert_eq!(upgraded(&scene, &requests, newer).await?, [&overtaken[..], &TAKEN_OVER].concat());
    assert_eq!(found(&scene).await?, left(&["kept", "theirs"], &["another Apply", "newer Apply"]));
    Ok(())
}

#[operator_test]
async fn without_anything_of_a_retired_manager_nothing_is_asked() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["kept"])?.field_manager("used")).await?;
    applied_by(&scene, "others", json!({ "theirs": "theirs" })).await?;
    let newer = || Ok(version(&scene, &["kept"])?.field_manager("used").retired_field_managers(["older"]));
    assert_eq!(upgraded(&scene, &requests, newer).await?, [""; 0]);
    Ok(())
}

/// What is replaced as a whole holds nothing back, whoever has applied it.
#[operator_test]
async fn what_is_not_applied_any_more_is_not_taken_over() -> Result<()> {
    let (scene, requests) = (Scene::new("retired-managers").await?, Requests::default());
    after(&scene, version(&scene, &["kept"])?.field_manager("older")).await?;
    let newer = || {
        let replaced = workflow_of_one(map_with(&["kept"]).use_ssa(false))?;
        let of_scene = scene.managed(&Script::idle(), &replaced);
        Ok(of_scene.field_manager("newer").retired_field_managers(["older"]))
    };
    assert_eq!(upgraded(&scene, &requests, newer).await?, [""; 0]);
    assert_eq!(found(&scene).await?, left(&["kept"], &["older Apply"]));
    Ok(())
}

/// Somebody's map is called like one that the node wants, and a retired manager has an entry there.
#[tokio::test(start_paused = true)]
async fn what_is_not_ours_is_left_alone_whoever_has_applied_it() -> Result<()> {
    let (scene, requests) = (scene().await?, Requests::default());
    scene.failures.expect("exists already");
    somebodys_map(&scene, "one-a").await?;
    applied_by(&scene, "older", json!({ "applied": "theirs" })).await?;
    let before = scene.api::<ConfigMap>().get("one-a").await?;
    let newer = version(&scene, &["kept"])?.field_manager("newer").retired_field_managers(["older"]);
    let operator = scene.start_through(requests.hook(), newer).await?;
    scene.create("one", "first").await?;
    pass(30).await;
    operator.settled().await?;
    let made = requests.take();
    let looks = ["apply configmaps/one-a 409", "get configmaps/one-a 200"];
    assert!(made.iter().all(|request| looks.contains(&&**request)), "{made:?}");
    assert_eq!(scene.api::<ConfigMap>().get("one-a").await?, before);
    Ok(())
}
