//! Connections that break or fall silent below HTTP.

use http::{Method, header::USER_AGENT};
use integration_tests::prelude::*;
use operator_core::{
    ResourceType, WatchScope,
    bench::{BareInformer, InformerSettings, Seen},
    environment::Environment,
    testing::Proxy,
};

use super::{keeper, keeping, kept, says};

#[operator_test(real = "a control plane")]
async fn f01_a_watch_that_is_reset_goes_on_from_its_version() -> Result<()> {
    let scene = Scene::new("f01").await?;
    let proxy = Proxy::start(scene.cluster.control_plane()?).await?;
    let mut config = proxy.config();
    config.headers.push((USER_AGENT, "f01-operator".parse()?));
    let mut audit = Audit::of_agent(&scene.cluster, "f01-operator").await?;
    let script = keeping();
    let builder = scene.operator().config(config).register(keeper(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    audit.calls().await?;

    assert!(proxy.reset() >= 2, "a watch of primaries, and one of config maps");
    scene.create("two", "second").await?;
    kept(&scene, "two", "second").await?;
    says(&scene, "two", "second").await?;
    let both = ["watch testresources", "watch configmaps"];
    let calls = audit.calls_until("both watches again", |calls| {
        both.iter().all(|watch| calls.counts().contains_key(*watch))
    });
    let calls = calls.await?.counts();
    assert!(!calls.keys().any(|call| call.starts_with("list")), "nothing is listed again: {calls:?}");
    assert_eq!(script.runs.of("one").len(), 1, "nothing was missed, so nobody runs for nothing");
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}

/// Remembers the names of what was added, and counts the watches that fell silent.
#[derive(Clone, Default)]
struct Added(Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>);

impl Added {
    fn saw(&self, seen: &Seen<'_>) {
        match seen {
            Seen::Change(key, None, _) => self.0.lock().push(key.name().to_owned()),
            Seen::Change(..) => {}
            Seen::SilentWatch => {
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[operator_test(real = "a control plane")]
async fn f02_a_half_open_watch_is_noticed_and_replaced() -> Result<()> {
    let scene = Scene::new("f02").await?;
    let proxy = Proxy::start(scene.cluster.control_plane()?).await?;
    let mut config = InformerSettings::new("half-open", ResourceType::of::<ConfigMap>());
    config.scope = WatchScope::Namespaces([scene.namespace.clone()].into());
    // Otherwise a minute and a half: this is what bounds the time that an operator can be blind.
    config.watch_timeout = Duration::from_secs(1);
    let (environment, added) = (Environment::real(), Added::default());
    let client = Client::try_from(proxy.config())?;
    let sees = added.clone();
    let access = (client, environment.clone());
    let informer = BareInformer::<ConfigMap>::new(config, None, None, access, move |seen| sees.saw(&seen));
    let runner = informer.clone();
    let running = environment.spawn("informer", async move { runner.run(std::future::pending()).await });
    informer.synced().await;

    let create = async |name: &str| {
        let map = serde_json::from_value(json!({ "metadata": { "name": name } }))?;
        anyhow::Ok(scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?)
    };
    let seen = async |name: &str| {
        let what = format!("the informer to see {name}");
        eventually(&what, async || Ok(added.0.lock().iter().any(|seen| seen == name).then_some(()))).await
    };
    create("before").await?;
    seen("before").await?;
    assert_eq!(added.1.load(Ordering::Relaxed), 0, "what the server ends in time is not silent");
    assert!(proxy.freeze() > 0);
    let (before, frozen_at) = (proxy.accepted(), tokio::time::Instant::now());
    create("behind-its-back").await?;
    seen("behind-its-back").await?;
    assert!(proxy.accepted() > before, "over a new connection");
    assert_eq!(added.1.load(Ordering::Relaxed), 1, "it is told once");
    // The watch, its grace, and once more the time to open one, where the pool offered a connection that is as dead.
    assert!(frozen_at.elapsed() < Duration::from_secs(45), "{:?}", frozen_at.elapsed());
    running.abort();
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn f15_a_connection_that_is_reset_after_the_write_took_effect_leads_to_one_write() -> Result<()> {
    let scene = Scene::new("f15").await?;
    let proxy = Arc::new(Proxy::start(scene.cluster.control_plane()?).await?);
    let mut config = proxy.config();
    config.headers.push((USER_AGENT, "f15-operator".parse()?));
    let mut audit = Audit::of_agent(&scene.cluster, "f15-operator").await?;
    // From just before the write on, no answer comes through any more.
    let delayed = Arc::clone(&proxy);
    let hook = once_before(Method::PATCH, "/configmaps/one", move || {
        delayed.delay(Duration::from_secs(3600));
        Box::pin(async { Ok(()) })
    });
    let script = keeping();
    let builder = scene.operator().config(config).transport(hook).register(keeper(&scene, &script)?);
    scene.failures.expect("no answer");
    let operator = TestOperator::start(builder).await?;
    // It leaves a connection behind that needs no handshake, whose answers would be held back as well.
    scene.create("zero", "first").await?;
    says(&scene, "zero", "first").await?;
    operator.settled().await?;
    audit.calls().await?;
    scene.create("one", "first").await?;
    let made = kept(&scene, "one", "first").await?;
    // The object can be read before the server has answered, and a request that ends then is logged as one that failed.
    let answered = audit.calls_until("the answer to the write", |calls| creations(calls) > 0).await?;
    proxy.delay(Duration::ZERO);
    assert!(proxy.reset() > 0);

    says(&scene, "one", "first").await?;
    operator.settled().await?;
    let now = scene.api::<ConfigMap>().get("one").await?;
    assert_eq!((now.uid(), now.resource_version()), (made.uid(), made.resource_version()), "written once");
    assert_eq!(creations(&answered) + creations(&audit.calls().await?), 1);
    let runs = script.runs.of("one");
    assert!(runs.len() >= 2, "the run whose write was not answered is repeated: {runs:?}");
    runs.last().context("a run")?;
    Ok(())
}

fn creations(calls: &Calls) -> usize {
    calls.events().iter().filter(|call| call.resource == "configmaps" && call.code == 201).count()
}

#[operator_test(real = "a control plane")]
async fn f15_answers_that_end_anywhere_are_asked_for_again() -> Result<()> {
    let scene = Scene::new("f15-cut").await?;
    let proxy = Proxy::start(scene.cluster.control_plane()?).await?;
    let script = keeping();
    // The handshake takes some two thousand bytes; from there on an answer ends at its beginning or in its middle.
    proxy.close_after(Some(4_000));
    let builder = scene.operator().config(proxy.config()).register(keeper(&scene, &script)?);
    for number in 0..20 {
        scene.create(&format!("object-{number}"), "first").await?;
    }
    let operator = TestOperator::start_unsynced(builder).await?;
    // Not many: with each cut the caches wait longer, up to three quarters of a minute.
    eventually("some connections to be cut", async || Ok((proxy.accepted() > 5).then_some(()))).await?;
    proxy.close_after(None);
    for number in 0..20 {
        kept(&scene, &format!("object-{number}"), "first").await?;
        says(&scene, &format!("object-{number}"), "first").await?;
    }
    operator.settled().await?;
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn a_server_that_refuses_connections_is_waited_for() -> Result<()> {
    let scene = Scene::new("refused").await?;
    let proxy = Proxy::start(scene.cluster.control_plane()?).await?;
    proxy.refuse(true);
    let script = keeping();
    let builder = scene.operator().config(proxy.config()).register(keeper(&scene, &script)?);
    let operator = TestOperator::start_unsynced(builder).await?;
    eventually("trouble that is told", async || {
        Ok((!operator.unhealthy_sources().await.is_empty()).then_some(()))
    })
    .await?;
    proxy.refuse(false);
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}
