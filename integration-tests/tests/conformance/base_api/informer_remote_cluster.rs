//! Objects of another cluster are read, and trigger primaries here. An outage of that cluster stops nothing else.
//! On both servers the other cluster is one inside the process.

use futures::FutureExt;
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use operator_core::{
    RemoteCluster, WatchScope, client::TransportHook, event_source::HeldBack, observe::SourceHealth,
};

const TARGET: &str = "io.javaoperatorsdk/primary-name";

/// The other cluster, and the requests to it.
struct Edge {
    cluster: TestCluster,
    client: Client,
    is_down: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Edge {
    async fn new(scene: &Scene) -> Result<Self> {
        let cluster = TestCluster::in_process();
        let client = cluster.client()?;
        let namespace = integration_tests::from_json(&json!({ "metadata": { "name": scene.namespace } }))?;
        Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await?;
        Ok(Self { cluster, client, is_down: Arc::default(), asked: Arc::default() })
    }

    fn remote(&self) -> Result<RemoteCluster> {
        let (is_down, asked) = (Arc::clone(&self.is_down), Arc::clone(&self.asked));
        let switch = TransportHook::around(move |request, inner| {
            let is_down = is_down.load(Ordering::SeqCst);
            let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            let what = if watches { "WATCH" } else { request.method().as_str() };
            asked.lock().push(format!("{what} {}", request.uri().path()));
            async move { if is_down { Err("connection refused".into()) } else { inner.send(request).await } }
        });
        let server = self.cluster.server_hook().context("it is inside the process")?;
        Ok(RemoteCluster::new("edge", self.cluster.config()).transport(server).transport(switch))
    }

    fn maps(&self, scene: &Scene) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &scene.namespace)
    }

    async fn create(&self, scene: &Scene, name: &str, value: &str) -> Result<()> {
        self.maps(scene).create(&PostParams::default(), &map(name, value)?).await?;
        Ok(())
    }

    async fn change(&self, scene: &Scene, name: &str, value: &str) -> Result<()> {
        let patch = Patch::Merge(json!({ "data": { "value": value } }));
        self.maps(scene).patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }
}

/// A config map that names the primary `one`.
fn map(name: &str, value: &str) -> Result<ConfigMap> {
    Ok(integration_tests::from_json(&json!({
        "metadata": { "name": name, "annotations": { TARGET: "one" } },
        "data": { "value": value },
    }))?)
}

fn source(edge: &Edge) -> Result<InformerEventSource<ConfigMap>> {
    Ok(InformerEventSource::new().name("maps at the edge").on(&edge.remote()?))
}

/// Reports the content of the config map called `map`, in both clusters.
fn script() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let key = ObjectKey::namespaced(primary.metadata.namespace.as_deref().unwrap_or_default(), "map");
            let value =
                |map: Option<Arc<ConfigMap>>| map.as_deref().and_then(value_of).unwrap_or("-").to_owned();
            let (here, there) = (context.get(&key)?, context.get(&key.in_cluster("edge"))?);
            let message = format!("{} {} {}", value(here), value(there), primary.value());
            Ok(Said::status(TestStatus { message: Some(message), ..TestStatus::default() }))
        })
    })
}

async fn until_said(scene: &Scene, message: &str) -> Result<()> {
    let says = |one: &TestResource| {
        one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(message)
    };
    scene.until(message, "one", says).await?;
    Ok(())
}

/// The same without waiting.
async fn said(scene: &Scene) -> Result<String> {
    let status = scene.resources.get("one").await?.status;
    Ok(status.and_then(|status| status.message).unwrap_or_default())
}

/// The report of the source at the edge, and the primaries that wait for it.
async fn trouble(operator: &TestOperator) -> Option<(String, String, HeldBack)> {
    let ailing =
        operator.unhealthy_sources().await.into_iter().find(|source| source.source == "maps at the edge")?;
    match ailing.health {
        SourceHealth::Unhealthy { reason, advice } => {
            Some((reason, advice.unwrap_or_default(), ailing.holds_back))
        }
        SourceHealth::Syncing | SourceHealth::Healthy => None,
    }
}

#[operator_test]
async fn an_object_elsewhere_triggers_its_primary_and_is_not_mistaken_for_one_here() -> Result<()> {
    let (scene, script) = (Scene::new("remote").await?, script());
    let edge = Edge::new(&scene).await?;
    let controller = scene.controller(&script).watches(source(&edge)?).owns::<ConfigMap>();
    edge.create(&scene, "map", "there").await?;
    scene.create("one", "first").await?;
    let operator = scene.start(controller).await?;
    let started = operator.settled().await?;
    assert_eq!(started.runs, [(scene.key("one"), 1)].into(), "it was listed before the first run");
    assert_eq!(said(&scene).await?, "- there first");

    // One of the same name here is another one.
    scene.api::<ConfigMap>().create(&PostParams::default(), &map("map", "here")?).await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    assert_eq!(said(&scene).await?, "here there first");
    edge.change(&scene, "map", "changed").await?;
    assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1);
    assert_eq!(said(&scene).await?, "here changed first");
    edge.maps(&scene).delete("map", &DeleteParams::default()).await?;
    let deleted = operator.settled().await?;
    assert_eq!(deleted.runs_of(&scene.key("one")), 1);
    assert_eq!(said(&scene).await?, "here - first");
    let maps = format!("/api/v1/namespaces/{}/configmaps", scene.namespace);
    assert!(deleted.writes().all(|request| !request.to_string().contains(&maps)));
    let asked = edge.asked.lock().clone();
    let (list, watch) = (format!("GET {maps}"), format!("WATCH {maps}"));
    assert!(asked.iter().all(|request| [&list, &watch].contains(&request)), "{asked:?}");
    assert_eq!(asked.iter().filter(|request| **request == watch).count(), 1, "{asked:?}");
    assert_eq!(operator.operator().footprint().await.leftovers, []);
    Ok(())
}

#[operator_test]
async fn another_clusters_outage_stops_nothing_else() -> Result<()> {
    let (scene, script) = (Scene::new("remote-down").await?, script());
    let edge = Edge::new(&scene).await?;
    edge.is_down.store(true, Ordering::SeqCst);
    edge.create(&scene, "map", "there").await?;
    scene.create("one", "first").await?;
    let controller = scene.controller(&script).watches(source(&edge)?).owns::<ConfigMap>();
    let operator = TestOperator::start_unsynced(scene.operator().register(controller)).await?;
    // It is said which cluster is down, and what to look at, and the primaries run without it.
    let (reason, advice, holds_back) =
        eventually("the trouble", async || Ok(trouble(&operator).await)).await?;
    assert!(reason.starts_with("cluster edge: ") && reason.contains("connection refused"), "{reason}");
    assert!(advice.contains("`RemoteCluster::new(\"edge\", …)`") && advice.contains("can reach"), "{advice}");
    assert_eq!(holds_back, HeldBack::Nobody);
    until_said(&scene, "- - first").await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    until_said(&scene, "- - second").await?;

    // It comes back by itself, and its objects trigger what they belong to.
    edge.is_down.store(false, Ordering::SeqCst);
    until_said(&scene, "- there second").await?;
    operator.settled().await?;
    assert_eq!(trouble(&operator).await, None);

    // Down once more: what was seen stays readable, and everything else goes on.
    edge.is_down.store(true, Ordering::SeqCst);
    scene.patch("one", json!({ "spec": { "value": "third" } })).await?;
    until_said(&scene, "- there third").await?;
    Ok(())
}

#[operator_test]
async fn runs_wait_for_the_first_list_of_a_cluster_that_answers() -> Result<()> {
    let (scene, script, gate) = (Scene::new("remote-slow").await?, script(), Gate::new());
    let edge = Edge::new(&scene).await?;
    edge.create(&scene, "map", "there").await?;
    scene.create("one", "first").await?;
    let held = gate.clone();
    let slow = before(move |_, _| {
        let held = held.clone();
        Some(async move { held.pass().await }.boxed())
    });
    let maps = InformerEventSource::<ConfigMap>::new().name("maps at the edge");
    let maps = maps.on(&edge.remote()?.transport(slow));
    let controller = scene.controller(&script).watches(maps).owns::<ConfigMap>();
    let operator = TestOperator::start_unsynced(scene.operator().register(controller)).await?;
    gate.arrived().await?;
    let lagging = eventually("the rest to be synced", async || {
        let lagging = operator.unhealthy_sources().await;
        Ok((lagging.len() <= 1).then_some(lagging))
    });
    let lagging: Vec<_> =
        lagging.await?.into_iter().map(|source| (source.source, source.holds_back)).collect();
    let waits = HeldBack::Namespace(scene.namespace.clone());
    assert_eq!(lagging, [("maps at the edge".to_owned(), waits)]);
    gate.let_through(1000);
    assert_eq!(operator.settled().await?.runs, [(scene.key("one"), 1)].into());
    assert_eq!(said(&scene).await?, "- there first");
    Ok(())
}

#[operator_test]
async fn an_operator_that_needs_all_its_sources_does_not_start_without_the_other_cluster() -> Result<()> {
    let (scene, script) = (Scene::new("remote-strict").await?, script());
    let edge = Edge::new(&scene).await?;
    edge.is_down.store(true, Ordering::SeqCst);
    scene.create("one", "first").await?;
    let controller = scene.controller(&script).watches(source(&edge)?.namespaces(WatchScope::All));
    let builder = scene.operator().register(controller);
    let builder = builder.cache_sync_timeout(Duration::from_secs(2)).stop_on_source_error_at_start(true);
    let Err(error) = TestOperator::start_unsynced(builder).await else { panic!("it needs all of them") };
    let error = error.to_string();
    let advice = "check that this process can reach cluster edge";
    assert!(error.contains("maps at the edge") && error.contains(advice), "{error}");
    assert_eq!(script.runs.count(), 0);
    Ok(())
}

#[operator_test]
async fn two_clusters_of_one_name_are_a_mistake() -> Result<()> {
    let (scene, one, other) = (Scene::new("remote-names").await?, script(), script());
    let (first, second) = (Edge::new(&scene).await?, Edge::new(&scene).await?);
    let controller = |script, edge: &Edge| anyhow::Ok(scene.controller(script).watches(source(edge)?));
    let (one, other) = (controller(&one, &first)?.name("one"), controller(&other, &second)?.name("other"));
    let said = scene.operator().register(one).register(other).validate();
    let said = said.err().context("it is refused")?.to_string();
    assert!(said.contains("two other clusters are called `edge`"), "{said}");
    // Clones of one value are one cluster.
    let edge = first.remote()?;
    let maps = |name: &str| InformerEventSource::<ConfigMap>::new().name(name).on(&edge);
    let controller = scene.controller(&script()).watches(maps("a")).watches(maps("b"));
    assert!(scene.operator().register(controller).validate().is_ok());
    Ok(())
}

/// Credentials rotate: a run adds its source again, on a new value of the same name, while another source is still on the
/// old one.
#[operator_test]
async fn a_rotated_cluster_is_another_one() -> Result<()> {
    let scene = Scene::new("remote-rotated").await?;
    let (before, after) = (Edge::new(&scene).await?, Edge::new(&scene).await?);
    let rotated = after.remote()?;
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let late = InformerEventSource::<ConfigMap>::new().name("late").on(&rotated);
        let added = context.event_sources().add(late).map(drop);
        Box::pin(async move {
            added?;
            Ok(UpdateControl::no_update())
        })
    });
    let operator = scene.start(scene.controller(&script).watches(source(&before)?)).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let maps = format!("/api/v1/namespaces/{}/configmaps", scene.namespace);
    let (list, watch) = (format!("GET {maps}"), format!("WATCH {maps}"));
    let asked = after.asked.lock().clone();
    assert_eq!(asked[..2], [list, watch], "it has a list-watch of its own");
    Ok(())
}
