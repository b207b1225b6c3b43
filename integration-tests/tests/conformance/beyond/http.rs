//! The listener is unready with the source's name while the definition is missing, ready once it is installed, and its
//! metrics show what has happened.

use std::net::SocketAddr;

use integration_tests::prelude::*;
use operator_core::{FunctionEventSource, LeaderElection, metrics::Metric};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Writes a status; the first run of `fails` ends with an error, that of `panics` in a panic.
fn script() -> Script<LateTestResource> {
    Script::new(|run, primary: Arc<LateTestResource>, _| {
        Box::pin(async move {
            match (primary.name_any().as_str(), run) {
                ("fails", 1) => bail!("the first run fails"),
                ("panics", 1) => panic!("the first run panics"),
                _ => {}
            }
            let message = Some("done".to_owned());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    })
}

/// Status and body of the answer to a GET.
async fn get(address: SocketAddr, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an answer with a head")?;
    let status = head.split(' ').nth(1).context("a status")?.parse()?;
    Ok((status, body.to_owned()))
}

/// The value of the series at `/metrics` that has these labels, in any order, and no other.
fn value(text: &str, metric: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let wanted: BTreeSet<String> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    text.lines().find_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = series.split_once('{')?;
        let labels: BTreeSet<String> = labels.strip_suffix('}')?.split(',').map(str::to_owned).collect();
        (name == metric && labels == wanted).then(|| value.parse().ok())?
    })
}

async fn ready(address: SocketAddr) -> Result<()> {
    eventually("readiness", async || {
        Ok((get(address, "/readyz").await? == (200, "ok".to_owned())).then_some(()))
    })
    .await
}

#[operator_test]
async fn probes_and_metrics_of_an_operator_from_a_missing_definition_to_its_stop() -> Result<()> {
    let (_turn, scene) = Scene::late("http").await?;
    scene.failures.expect("the first run fails");
    scene.failures.expect("the first run panics");
    let retry = GenericRetry::linear(Duration::from_millis(100), 5)?;
    let controller = script().controller().name("sample").retry(retry).namespaces([&scene.namespace]);
    // Alone in its election, so that it leads.
    let election = LeaderElection::new("http").namespace(&scene.namespace);
    let builder = scene.operator().http_address(([127, 0, 0, 1], 0).into()).leader_election(election);
    let builder = builder.register(controller);
    let operator = TestOperator::start_unsynced(builder).await?;
    let address = operator.operator().http_address().await.context("it serves")?;

    let unready = eventually("the reason", async || {
        let (status, body) = get(address, "/readyz").await?;
        assert_eq!(status, 503, "{body}");
        Ok(body.contains("install the CustomResourceDefinition").then_some(body))
    })
    .await?;
    let part = format!("controller sample, source primary, namespace {}: ", scene.namespace);
    assert!(unready.starts_with(&part), "{unready}");
    let waiting = format!("; the primaries in namespace {} wait\n", scene.namespace);
    assert!(unready.ends_with(&waiting), "{unready}");
    assert!(unready.contains(LateTestResource::crd_name()), "{unready}");
    assert_eq!(unready.lines().count(), 1, "{unready}");
    assert_eq!(get(address, "/healthz").await?, (200, "ok".to_owned()));

    scene.install_crd().await?;
    ready(address).await?;
    for name in ["works", "fails", "panics"] {
        scene.create(name, name).await?;
        scene.until("the status", name, |object: &LateTestResource| object.status.is_some()).await?;
    }
    operator.settled().await?;
    let (status, text) = get(address, "/metrics").await?;
    assert_eq!(status, 200);
    let of = ("controller_name", "sample");
    let within = [of, ("namespace", scene.namespace.as_str())];
    for (metric, labels, expected) in [
        ("reconciliations_active", &[of][..], 0.0),
        ("reconciliations_queue", &[of], 0.0),
        ("custom_resources", &[of], 3.0),
        ("reconciliations_execution_duration_seconds_count", &[of, ("name", "reconcile")], 5.0),
        ("reconciliations_started_total", &within, 5.0),
        ("reconciliations_success_total", &within, 3.0),
        ("reconciliations_failure_total", &within, 2.0),
        ("reconciliations_retries_total", &within, 2.0),
        ("reconciler_panics_total", &within, 1.0),
        ("events_received_total", &[within[0], within[1], ("event", "primary"), ("action", "ADDED")], 3.0),
        ("api_writes_total", &[of, ("kind", "LateTestResource"), ("result", "updated")], 3.0),
    ] {
        assert_eq!(value(&text, metric, labels), Some(expected), "{metric} in\n{text}");
    }
    let shown: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    // Nothing falls silent here, no Event is recorded, the status has no conditions, and what has not happened yet is
    // not counted.
    let never = [
        "condition_transitions_total",
        "kubernetes_events_total",
        "paused_primaries",
        "primary_conditions",
        "watches_replaced_total",
    ];
    let happens = Metric::all().iter().map(|metric| metric.name).filter(|name| !never.contains(name));
    assert_eq!(shown, happens.collect());

    scene.delete("works").await?;
    scene.until_gone("works").await?;
    operator.settled().await?;
    let (_, text) = get(address, "/metrics").await?;
    assert_eq!(value(&text, "custom_resources", &[of]), Some(2.0), "{text}");

    operator.stop().await;
    assert!(get(address, "/readyz").await.is_err(), "nobody answers");
    assert_eq!(operator.operator().http_address().await, None);
    // A second life of the same operator: it knows two objects, not four.
    operator.operator().start().await?;
    let address = operator.operator().http_address().await.context("it serves")?;
    ready(address).await?;
    operator.settled().await?;
    let (_, text) = get(address, "/metrics").await?;
    assert_eq!(value(&text, "custom_resources", &[of]), Some(2.0), "{text}");
    assert_eq!(value(&text, "reconciliations_queue", &[of]), Some(0.0), "{text}");

    let builder = scene
        .operator()
        .http_address(address)
        .register(script().controller().name("late").namespaces([&scene.namespace]));
    let taken = TestOperator::start_unsynced(builder).await.expect_err("the port is taken");
    assert!(taken.to_string().contains(&address.to_string()), "{taken}");
    operator.stop().await;
    Ok(())
}

/// A function that has nothing more to report isn't a task that has died.
#[operator_test]
async fn a_source_whose_function_has_ended_is_quiet_and_its_operator_alive() -> Result<()> {
    let scene = Scene::<TestResource>::new("http-function").await?;
    let script = Script::new(|_, _: Arc<TestResource>, _| {
        Box::pin(async { Ok(Said::status(said("done".to_owned()))) })
    });
    let (ends, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let once = FunctionEventSource::new("once", move |events| {
        let ends = ends.clone();
        async move {
            events.wake_all();
            // Nothing is awaited behind it.
            ends.send(()).unwrap_or_default();
        }
    });
    let builder = scene.operator().http_address(([127, 0, 0, 1], 0).into());
    let controller = script.controller().namespaces([&scene.namespace]).watches(once);
    let operator = TestOperator::start(builder.register(controller)).await?;
    let address = operator.operator().http_address().await.context("it serves")?;
    ended.recv().await.context("it ends")?;
    scene.create("one", "first").await?;
    scene.until("a status", "one", |object: &TestResource| object.status.is_some()).await?;
    operator.settled().await?;
    assert_eq!(get(address, "/healthz").await?, (200, "ok".to_owned()));
    assert_eq!(get(address, "/readyz").await?, (200, "ok".to_owned()));
    operator.stop().await;
    // Each start calls it anew.
    operator.operator().start().await?;
    ended.recv().await.context("it ends again")?;
    operator.settled().await?;
    let address = operator.operator().http_address().await.context("it serves")?;
    assert_eq!(get(address, "/healthz").await?, (200, "ok".to_owned()));
    operator.stop().await;
    Ok(())
}
