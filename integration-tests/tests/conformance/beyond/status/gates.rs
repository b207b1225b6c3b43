//! Nodes that wait for something that comes by itself, and functions beside a node's own that decide whether it exists.

use integration_tests::prelude::*;
use operator_core::{Context, Verdict, Want, Wire as _};

use super::{status, told_now};

fn says(one: &TestResource, word: &str) -> bool {
    one.spec.value.split(' ').any(|said| said == word)
}

/// Waits for a licence, is held by a person, or isn't wanted, if the value has this word.
fn page(one: &TestResource) -> Want<ConfigMap> {
    match () {
        () if says(one, "wait") => Want::wait("NoLicence", "there is no licence yet"),
        () if says(one, "hold") => Want::hold("Odd", "the value is odd"),
        () if says(one, "none") => Want::none("it isn't wanted"),
        () => Want::of(map_of(one, "page", &one.spec.value)),
    }
}

fn behind(one: &TestResource) -> ConfigMap {
    map_of(one, "behind", &one.spec.value)
}

/// The same words for a gate.
fn gate(one: &TestResource) -> Want<()> {
    match () {
        () if says(one, "gate-wait") => Want::wait("NoQuota", "there is no quota yet"),
        () if says(one, "gate-hold") => Want::hold("Frozen", "it is frozen"),
        () if says(one, "gate-none") => Want::none("it is switched off"),
        () => Want::of(()),
    }
}

/// A gate that looks at more than the primary.
fn asks(one: &TestResource, _: &Context<TestResource>) -> Verdict {
    Verdict::when(!says(one, "asks-none"), "it was asked for")
}

/// The values of the maps that exist.
async fn values(scene: &Scene) -> Result<BTreeMap<String, String>> {
    let maps = scene.api::<ConfigMap>().list(&Default::default()).await?.items;
    let value = |map: ConfigMap| Some((map.name_any(), map.data?.remove("value")?));
    let own = maps.into_iter().filter(|map| map.name_any().starts_with("one-"));
    Ok(own.filter_map(value).collect())
}

async fn set(
    scene: &Scene,
    operator: &operator_core::testing::TestOperator,
    value: &str,
) -> Result<Vec<String>> {
    scene.patch("one", json!({ "spec": { "value": value } })).await?;
    Ok(operator.settled().await?.written())
}

#[operator_test]
async fn what_waits_is_reconciling_with_its_code_and_stays_as_it_is() -> Result<()> {
    let scene = Scene::new("status-wait").await?;
    let workflow = Workflow::builder().nodes((page, behind.after(page))).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    let status_is_written = "PATCH testresources/one/status -> 200".to_owned();
    let waits = [
        "Ready False NoLicence page: waiting: there is no licence yet",
        "Reconciling True NoLicence page: waiting: there is no licence yet",
        "Stalled False NoLicence",
    ];

    scene.create("one", "wait").await?;
    let only_status = [status_is_written];
    assert_eq!(operator.settled().await?.written(), only_status, "nothing is made");
    assert_eq!(told_now(&scene).await?, waits);

    set(&scene, &operator, "first").await?;
    assert_eq!(values(&scene).await?.values().collect::<Vec<_>>(), ["first", "first"]);
    let succeeded = ["Ready True Succeeded", "Reconciling False Succeeded", "Stalled False Succeeded"];
    assert_eq!(told_now(&scene).await?, succeeded);

    assert_eq!(set(&scene, &operator, "wait second").await?, only_status, "what exists stays");
    assert_eq!(told_now(&scene).await?, waits);
    // A person has to act.
    set(&scene, &operator, "hold third").await?;
    let odd = "Odd page: held: the value is odd";
    assert_eq!(
        told_now(&scene).await?,
        [format!("Ready False {odd}"), "Reconciling False Odd".into(), format!("Stalled True {odd}")]
    );
    assert_eq!(values(&scene).await?.values().collect::<Vec<_>>(), ["first", "first"]);
    // The end of the primary waits for nothing.
    scene.delete("one").await?;
    operator.settled().await?;
    eventually("the end", async || Ok(scene.resources.get_opt("one").await?.is_none().then_some(()))).await
}

#[operator_test]
async fn any_no_removes_and_else_any_hold_or_wait_keeps() -> Result<()> {
    let scene = Scene::new("status-gates").await?;
    let workflow = Workflow::builder().nodes((page.only_if(gate).only_if(asks),)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let ready = async || anyhow::Ok(told_now(&scene).await?.remove(0));
    // The values, whether the map exists afterwards, and what `Ready` says.
    let rows = [
        ("gate-wait", true, "Ready False NoQuota page: waiting: there is no quota yet"),
        ("gate-hold", true, "Ready False Frozen page: held: it is frozen"),
        ("wait", true, "Ready False NoLicence page: waiting: there is no licence yet"),
        ("gate-hold wait", true, "Ready False Frozen page: held: it is frozen"),
        ("gate-wait hold", true, "Ready False NoQuota page: waiting: there is no quota yet"),
        ("gate-wait none", false, "Ready True NothingWanted page: it isn't wanted"),
        ("gate-none hold", false, "Ready True NothingWanted page: it is switched off"),
        ("gate-hold asks-none", false, "Ready True NothingWanted page: it was asked for"),
        ("asks-none none", false, "Ready True NothingWanted page: it was asked for"),
    ];
    for (value, exists, says) in rows {
        set(&scene, &operator, value).await?;
        assert_eq!(values(&scene).await?.len(), usize::from(exists), "{value}");
        assert_eq!(ready().await?, says, "{value}");
        set(&scene, &operator, "first").await?;
        assert_eq!(values(&scene).await?.len(), 1, "after {value}");
    }
    Ok(())
}

#[operator_test]
async fn a_gate_of_the_primary_alone_is_asked_before_its_turn() -> Result<()> {
    let scene = Scene::new("status-gate-early").await?;
    let slow = |one: &TestResource| map_of(one, "slow", &one.spec.value);
    let slow = operator_core::node(slow).named("slow").ready(|one: &TestResource| says(one, "done"));
    let early = behind.only_if(gate).after(&slow);
    let late = page.only_if(asks).after(&slow);
    let workflow = Workflow::builder().nodes((slow, early, late)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "done").await?;
    operator.settled().await?;
    assert_eq!(values(&scene).await?.len(), 3);
    // `slow` isn't ready any more. What can be said without it is said: `behind` goes, and `page` stays.
    set(&scene, &operator, "gate-none asks-none").await?;
    let left = values(&scene).await?;
    assert_eq!(left.keys().collect::<Vec<_>>(), ["one-page", "one-slow"]);
    assert_eq!(left["one-page"], "done");
    set(&scene, &operator, "done asks-none").await?;
    assert_eq!(values(&scene).await?.keys().collect::<Vec<_>>(), ["one-behind", "one-slow"]);
    Ok(())
}
