//! The effect of gates on nodes that aren't reached, and of an object that is only read on the nodes behind it.

use integration_tests::prelude::*;
use operator_core::{Node, One, Want, Wire as _, dependent::Read};

use super::{TestResource, pass, scene, under};

type ReadNode = Node<TestResource, One<ConfigMap>>;

/// Open while the test says so.
#[derive(Clone, Default)]
struct Window(Arc<AtomicBool>);

impl Window {
    fn gate(&self) -> Want<()> {
        match self.0.load(Ordering::SeqCst) {
            true => Want::of(()),
            false => Want::hold("Closed", "outside of the window"),
        }
    }
}

/// The window of a node behind a gate that closes.
#[tokio::test(start_paused = true)]
async fn a_hold_stops_a_removal_that_comes_down_the_chain() -> Result<()> {
    let (scene, window) = (scene().await?, Window::default());
    window.0.store(true, Ordering::SeqCst);
    let (script, outcomes) = looking_on::<TestResource>();
    let gated = Child("gated").only_if(|primary| primary.spec.value != "none");
    let asked = window.clone();
    let held = Child("held").wants(move |_| asked.gate()).requires(&gated);
    let behind = Child("behind").node().requires(&held);
    let beside = Child("beside").node().requires(&gated);
    let workflow = Workflow::builder().nodes((gated, held, behind, beside)).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "all").await?;
    pass(60).await;
    assert_eq!(operator.settled().await?.written().len(), 4);

    window.0.store(false, Ordering::SeqCst);
    scene.set("one", "none").await?;
    pass(60).await;
    let expected = ["DELETE configmaps/one-beside -> 200"];
    assert_eq!(operator.settled().await?.written(), expected, "what is held, and what it needs, stays");
    let why = "waiting for held to be released: outside of the window";
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

/// An unwanted object is deleted, although its node's dependencies never become ready.
#[tokio::test(start_paused = true)]
async fn a_closed_gate_removes_behind_what_is_not_ready() -> Result<()> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let published = |primary: &TestResource| primary.spec.value == "published";
    let web = Child("web").node().ready(published);
    let service = Child("service").only_if(published).after(&web);
    let ingress = Child("ingress").node().requires(&service);
    let config = Child("config").node().after(&web);
    let workflow = Workflow::builder().nodes((web, service, ingress, config)).build()?;
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

fn web(_: &TestResource) -> Deployment {
    let labels = json!({ "app": "web" });
    let pod = json!({ "containers": [{ "name": "web", "image": "web:1" }] });
    let template = json!({ "metadata": { "labels": labels }, "spec": pod });
    from_json(&json!({ "spec": { "selector": { "matchLabels": labels }, "template": template } }))
        .expect("a deployment")
}

#[tokio::test(start_paused = true)]
async fn a_condition_beside_the_status_is_one_more() -> Result<()> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let is_open = |primary: &TestResource| primary.spec.value == "open";
    let workflow = Workflow::builder().nodes((web.also_ready(is_open),)).build()?;
    scene.cluster.pods()?.never_ready("app=web")?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "open").await?;
    let told = async || {
        pass(60).await;
        operator.settled().await?;
        let line = outcomes.lines("one").pop().expect("a node");
        Ok::<_, anyhow::Error>(line.split_once(", not ready: ").map(|(_, why)| why.to_owned()))
    };
    assert_eq!(told().await?.as_deref(), Some("0/1 updated replicas available"), "it is open alone");
    scene.cluster.pods()?.release("app=web")?;
    assert_eq!(told().await?, None);
    scene.set("one", "closed").await?;
    assert_eq!(told().await?.as_deref(), Some("its condition is not met"), "it runs alone");
    Ok(())
}

/// A config map of the user's that is named like the primary.
fn settings(primary: &TestResource) -> Read<ConfigMap> {
    Read::named(primary.name_any())
}

/// It doesn't exist yet.
async fn reads(node: impl FnOnce(ReadNode) -> ReadNode) -> Result<(usize, Vec<String>)> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let settings_node = node(operator_core::node(settings));
    let workflow = Workflow::builder().nodes((settings_node, Child("app").node().after(settings))).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    let one = scene.create("one", "first").await?;
    pass(60).await;
    let before = scene.values().await?.len();
    let lines =
        outcomes.lines("one").into_iter().map(|line| line.replace(&scene.namespace, "NAMESPACE")).collect();
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
    // Without a condition, too, it has to be there.
    let nodes: [fn(ReadNode) -> ReadNode; 2] = [|node| node, Node::ready_when_applied];
    for node in nodes {
        let (before, lines) = reads(node).await?;
        assert_eq!(before, 0, "the app runs without its settings");
        assert_eq!(
            lines,
            [
                "settings: matched, not ready: ConfigMap NAMESPACE/one not found; in this workflow app makes objects of this kind",
                "app: waiting for settings to be ready: ConfigMap NAMESPACE/one not found; in this workflow app makes objects of this kind",
            ]
        );
    }
    Ok(())
}

/// What the node behind it makes.
fn of_the_app(primary: &TestResource) -> Read<ConfigMap> {
    Read::named(format!("{}-app", primary.name_any()))
}

#[tokio::test(start_paused = true)]
async fn a_read_of_what_comes_after_it_names_the_circle() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let workflow = Workflow::builder().nodes((of_the_app, Child("app").node().after(of_the_app))).build()?;
    let _operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    let told = outcomes.lines("one");
    assert!(
        told[0].ends_with("one-app not found; app makes ConfigMaps and waits for of_the_app"),
        "{told:?}"
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
