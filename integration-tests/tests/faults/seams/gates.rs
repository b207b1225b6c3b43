//! What gates do to nodes that are not reached, and what an object that is only read does to those behind it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Result;
use integration_tests::{Child, looking_on};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Resource, api::PostParams};
use operator_core::{
    BoxError, Context, KubernetesDependent, Workflow,
    testing::faults::Faults,
    workflow::{Condition, ConditionResult, Node, NodeView},
};

use super::{TestResource, pass, scene, under};

/// Met while the test says so.
#[derive(Clone, Default)]
struct Window(Arc<AtomicBool>);

impl Condition<TestResource> for Window {
    async fn check(
        &self,
        _: &NodeView<'_, TestResource>,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<ConditionResult, BoxError> {
        Ok(ConditionResult::when(self.0.load(Ordering::SeqCst), "outside of the window"))
    }
}

/// S22: the window of a node behind a gate that closes.
#[tokio::test(start_paused = true)]
async fn a_hold_stops_a_removal_that_comes_down_the_chain() -> Result<()> {
    let (scene, window) = (scene().await?, Window::default());
    window.0.store(true, Ordering::SeqCst);
    let (script, outcomes) = looking_on::<TestResource>();
    let wanted = |primary: &TestResource, _: &Context<TestResource>| primary.spec.value != "none";
    let workflow = Workflow::builder()
        .node(Child("gated").node().reconcile_when(wanted))
        .node(Child("held").node().depends_on("gated").hold_unless(window.clone()))
        .node(Child("behind").node().depends_on("held"))
        .node(Child("beside").node().depends_on("gated"))
        .build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "all").await?;
    pass(60).await;
    assert_eq!(operator.settled().await?.written().len(), 4);

    window.0.store(false, Ordering::SeqCst);
    scene.set("one", "none").await?;
    pass(60).await;
    let expected = ["DELETE configmaps/one-beside -> 200"];
    assert_eq!(operator.settled().await?.written(), expected, "what is held, and what it needs, stays");
    let why = "waiting for held to be let go: outside of the window";
    let expected = [
        format!("gated: {why}"),
        "held: held: outside of the window".to_owned(),
        format!("behind: {why}"),
        "beside: deleted".to_owned(),
    ];
    assert_eq!(outcomes.lines("one"), expected);

    window.0.store(true, Ordering::SeqCst);
    scene.set("one", "all").await?;
    pass(60).await;
    scene.set("one", "none").await?;
    pass(60).await;
    assert_eq!(scene.values().await?, BTreeMap::new(), "once the window is open they go");
    Ok(())
}

/// S19: what isn't wanted goes, although what it depends on never gets ready.
#[tokio::test(start_paused = true)]
async fn a_closed_gate_removes_behind_what_is_not_ready() -> Result<()> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let published = |primary: &TestResource, _: &Context<TestResource>| primary.spec.value == "published";
    let ready = |primary: &TestResource, _: &Context<TestResource>| primary.spec.value == "published";
    let workflow = Workflow::builder()
        .node(Child("web").node().ready_when(ready))
        .node(Child("service").node().depends_on("web").reconcile_when(published))
        .node(Child("ingress").node().depends_on("service"))
        .node(Child("config").node().depends_on("web"))
        .build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "published").await?;
    pass(60).await;
    assert_eq!(operator.settled().await?.written().len(), 4);

    // The new version crash-loops, and is not to be published any more.
    scene.set("one", "broken").await?;
    pass(60).await;
    let expected = [
        "PATCH configmaps/one-web -> 200",
        "DELETE configmaps/one-ingress -> 200",
        "DELETE configmaps/one-service -> 200",
    ];
    assert_eq!(operator.settled().await?.written(), expected, "what is only behind it is kept as it is");
    let expected = [
        "web: matched, not ready: its condition is not met",
        "service: deleted",
        "ingress: deleted",
        "config: waiting for web to be ready: its condition is not met",
    ];
    let lines = outcomes.lines("one");
    assert_eq!(lines[1..], expected[1..], "{lines:?}");
    Ok(())
}

/// S20: a config map of the user's that isn't there yet.
async fn reads(node: impl FnOnce(Node<TestResource>) -> Node<TestResource>) -> Result<(usize, Vec<String>)> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let target = |primary: &TestResource, _: &Context<TestResource>| operator_core::ObjectKey::of(primary);
    let settings = KubernetesDependent::read_only::<ConfigMap>("settings").target(target);
    let workflow = Workflow::builder()
        .node(node(Node::new(settings)))
        .node(Child("app").node().depends_on("settings"))
        .build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    let one = scene.create("one", "first").await?;
    pass(60).await;
    let before = scene.values().await?.len();
    let lines = outcomes.lines("one");
    let mut map = integration_tests::map_of(&one, "", "the user's");
    map.metadata.name = Some("one".to_owned());
    map.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(scene.values().await?.len(), 2, "with it the app comes");
    Ok((before, lines))
}

#[tokio::test(start_paused = true)]
async fn what_depends_on_an_object_that_is_only_read_waits_for_it() -> Result<()> {
    let (before, lines) = reads(|node| node).await?;
    assert_eq!(before, 0, "the app runs without its settings");
    assert_eq!(
        lines,
        ["settings: matched, not ready: not found", "app: waiting for settings to be ready: not found"]
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_optional_object_is_not_waited_for() -> Result<()> {
    let (before, lines) = reads(Node::optional).await?;
    assert_eq!(before, 1, "the app waits for what it can do without");
    assert_eq!(lines, ["settings: matched", "app: created"]);
    Ok(())
}
