//! Sources that runs add and remove, and namespaces that a controller follows and leaves, leave nothing behind: a hundred
//! times beside a controller that shares their list-watches.

use integration_tests::prelude::*;
use operator_core::{RemoteCluster, WatchScope, client::TransportHook};

/// A real server takes real time.
fn rounds(scene: &Scene) -> usize {
    if scene.cluster.is_in_process() { 100 } else { 5 }
}

/// Adds and removes the source `late`, as the spec says.
fn script(late: impl Fn(&str) -> InformerEventSource<ConfigMap> + Send + Sync + 'static) -> Script {
    let late = Arc::new(late);
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let late = Arc::clone(&late);
        Box::pin(async move {
            let sources = context.event_sources();
            match primary.value().starts_with("add") {
                true => drop(sources.add(late(primary.value()))?),
                false => drop(sources.remove("late")),
            }
            Ok(UpdateControl::no_update())
        })
    })
}

/// The number of series, and the number of objects of the source by its gauge.
fn measured(numbers: &Numbers) -> (usize, f64) {
    let text = numbers.text();
    let series = text.lines().filter(|line| !line.starts_with('#') && !line.contains("api_request"));
    (series.count(), numbers.value("objects_held", &[("event", "late")]))
}

/// A run adds the source, and another one removes it.
async fn comes_and_goes(scene: &Scene, operator: &TestOperator, rounds: usize) -> Result<()> {
    for round in 0..rounds {
        scene.set("one", &format!("add {round}")).await?;
        operator.settled().await?;
        scene.set("one", &format!("remove {round}")).await?;
        operator.settled().await?;
    }
    Ok(())
}

#[operator_test]
async fn a_source_that_comes_and_goes_leaves_nothing() -> Result<()> {
    let scene = Scene::new("growth-source").await?;
    let numbers = Numbers::default();
    let script = script(|_| {
        let late = InformerEventSource::<ConfigMap>::new().name("late");
        late.index("value", |map| value_of(map).into_iter().map(str::to_owned).collect())
    });
    let map: ConfigMap = integration_tests::from_json(&json!({ "metadata": { "name": "map" } }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    let shares =
        scene.controller(&Script::idle()).name("shares").watches(InformerEventSource::<ConfigMap>::new());
    let builder = scene.operator().metrics(numbers.recorder()).register(shares);
    let operator = TestOperator::start(builder.register(scene.controller(&script).name("web"))).await?;
    scene.create("one", "add").await?;
    operator.settled().await?;
    eventually("a measurement", async || Ok((measured(&numbers).1 > 0.0).then_some(()))).await?;
    comes_and_goes(&scene, &operator, 1).await?;
    let before = (measured(&numbers), operator.operator().footprint().await);
    assert_eq!(before.0.1, 0.0, "it holds nothing any more");
    comes_and_goes(&scene, &operator, rounds(&scene)).await?;
    assert_eq!((measured(&numbers), operator.operator().footprint().await), before);
    Ok(())
}

#[operator_test]
async fn the_clients_of_clusters_that_come_and_go_go_with_them() -> Result<()> {
    let scene = Scene::new("growth-clients").await?;
    let edge = TestCluster::in_process();
    let server = edge.server_hook().context("it is inside the process")?;
    let alive = Arc::new(());
    let token = Arc::clone(&alive);
    // New credentials each time: another cluster of the same name.
    let current: Arc<Mutex<Option<(String, RemoteCluster)>>> = Arc::default();
    let rotated = Arc::clone(&current);
    let script = script(move |value| {
        let mut rotated = rotated.lock();
        if rotated.as_ref().is_none_or(|(of, _)| of != value) {
            let token = Arc::clone(&token);
            let holds = TransportHook::around(move |request, inner| {
                let held = Arc::clone(&token);
                async move {
                    let answer = inner.send(request).await;
                    drop(held);
                    answer
                }
            });
            let remote = RemoteCluster::new("edge", edge.config()).transport(server.clone()).transport(holds);
            *rotated = Some((value.to_owned(), remote));
        }
        let (_, remote) = rotated.as_ref().expect("it was just made");
        InformerEventSource::new().name("late").on(remote)
    });
    let operator = scene.start(scene.controller(&script)).await?;
    scene.create("one", "remove").await?;
    operator.settled().await?;
    let before = (Arc::strong_count(&alive), operator.operator().footprint().await);
    comes_and_goes(&scene, &operator, rounds(&scene)).await?;
    *current.lock() = None;
    eventually("the end of the last client", async || {
        Ok((Arc::strong_count(&alive) == before.0).then_some(()))
    })
    .await?;
    assert_eq!(operator.operator().footprint().await, before.1);
    Ok(())
}

#[operator_test]
async fn namespaces_that_come_and_go_leave_nothing() -> Result<()> {
    let (first, second) = (Scene::new("growth-first").await?, Scene::new("growth-second").await?);
    let numbers = Numbers::default();
    let (shares, web) = (Script::<TestResource>::idle(), Script::<TestResource>::idle());
    let both = [&first.namespace, &second.namespace];
    let shares = shares.controller().name("shares").namespaces(both).owns::<ConfigMap>();
    let web = web.controller().name("web").namespaces([&first.namespace]).owns::<ConfigMap>();
    let builder = first.operator().metrics(numbers.recorder()).register(shares).register(web);
    let operator = TestOperator::start(builder).await?;
    first.create("one", "value").await?;
    second.create("two", "value").await?;
    operator.settled().await?;
    let scopes = [second.namespace.clone(), first.namespace.clone()];
    let change = async |rounds: usize| {
        for scope in scopes.iter().cycle().take(2 * rounds) {
            operator.operator().change_namespaces("web", WatchScope::from([scope.clone()])).await?;
            operator.settled().await?;
        }
        anyhow::Ok(())
    };
    change(1).await?;
    let before = (measured(&numbers), operator.operator().footprint().await);
    change(rounds(&first)).await?;
    assert_eq!((measured(&numbers), operator.operator().footprint().await), before);
    assert_eq!(before.1.primaries, 3, "both of one, and one of the other");
    Ok(())
}
