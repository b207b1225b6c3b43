//! An operator ends with all its tasks, whatever it has used.

use integration_tests::{Numbers, prelude::*};
use k8s_openapi::api::{apps::v1::StatefulSet, batch::v1::Job};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_core::{
    LeaderElection, PollingEventSource, Wire as _,
    controller::IntoController,
    environment::Environment,
    prelude::{Context, Reconciler, Result as RunResult, served},
    testing::LogCapture,
};
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    cache,
    faults::Fault,
    operator::{Cache, controller, headless, monitor},
};
use crate::records::{
    ledger::Ledger,
    site,
    site::{Site, declare},
};

/// The longest time that a stop may take when nothing is in progress, in virtual time.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Starts an operator with this controller, lets it bring a cache about, and stops it.
async fn ends(name: &str, controller: impl IntoController) -> Result<BTreeMap<&'static str, usize>> {
    ends_with(name, Operator::builder().register(controller), Cache::crd(), &cache(), "").await
}

/// A connection with half a request, if the operator has a listener.
async fn half_asked(running: &TestOperator) -> Result<Option<TcpStream>> {
    let Some(address) = running.operator().http_address().await else { return Ok(None) };
    // Virtual time would pass while bytes are under way, and the deadline for the request with it.
    tokio::time::resume();
    let mut half = TcpStream::connect(address).await?;
    half.write_all(b"GET /metrics HTTP/1.1\r\n").await?;
    let mut whole = TcpStream::connect(address).await?;
    whole.write_all(b"GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n").await?;
    // Connections are accepted in their order.
    whole.read_to_end(&mut Vec::new()).await?;
    tokio::time::pause();
    Ok(Some(half))
}

/// The same with any operator and primary. A warning may have the text `expected`, if there is one.
async fn ends_with(
    name: &str,
    builder: OperatorBuilder,
    crd: CustomResourceDefinition,
    primary: &impl Serialize,
    expected: &str,
) -> Result<BTreeMap<&'static str, usize>> {
    let (log, _guard) = LogCapture::start();
    let cluster = TestCluster::in_process();
    cluster.install_crds([crd]).await?;
    let environment = Environment::real();
    let given = environment.clone();
    let builder = cluster.connect(builder).environment(move || given.clone());
    let running = TestOperator::start(builder).await?;
    cluster.apply_yaml("default", &serde_json::to_string(primary)?).await?;
    running.settled().await?;
    let tasks = environment.tasks();
    let half_asked = half_asked(&running).await?;
    let begin = Instant::now();
    running.stop().await;
    ensure!(begin.elapsed() <= AT_ONCE, "{name} takes {:?} to stop", begin.elapsed());
    ensure!(environment.tasks().is_empty(), "{name} leaves {:?}", environment.tasks());
    if let Some(mut connection) = half_asked {
        let read = connection.read(&mut [0]).await;
        ensure!(!matches!(read, Ok(1..)), "{name} answers half a request");
    }
    let mut lines = log.lines(tracing::Level::WARN);
    lines.retain(|line| expected.is_empty() || !format!("{line:?}").contains(expected));
    ensure!(lines.is_empty(), "{name}: {lines:?}");
    Ok(tasks)
}

/// Invokes its workflow itself.
struct Explicit;

impl Reconciler for Explicit {
    type Primary = Cache;

    async fn reconcile(&self, cache: &Cache, cx: &mut Context<Cache>) -> RunResult<UpdateControl<Cache>> {
        cx.events().normal("Runs", cache.name_any());
        cx.run().await?;
        Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(60)))
    }
}

#[tokio::test(start_paused = true)]
async fn an_operator_ends_at_once_and_leaves_no_task() -> Result<()> {
    let of = || Controller::of::<Cache>();
    ends("a plain workflow", of().workflow((headless,))).await?;
    let workflow = Workflow::builder().nodes((headless,)).explicit_invocation().build()?;
    let explicit = Controller::builder(Explicit).records_events(true).workflow(workflow);
    ends("an explicit invocation", explicit).await?;
    let optional = || monitor.kind(("monitoring.example.com/v1", "ServiceMonitor"));
    let tasks = ends("when_served", of().workflow((headless, optional().when_served()))).await?;
    ensure!(tasks.contains_key("discovery"), "nothing asks what is served: {tasks:?}");
    let needs = headless.needs(served::<Job>());
    ends("needs", of().workflow((needs,))).await?;
    Ok(())
}

/// All that an ordinary operator has, and what few have: sources that poll, references, an election, intervals.
fn all_of_it() -> OperatorBuilder {
    let polls = PollingEventSource::new("numbers", Duration::from_secs(30), || async {
        anyhow::Ok(BTreeMap::<ObjectKey, Vec<Record>>::new())
    });
    let controller = controller(Fault::Nothing)
        .watches(polls)
        .watches(InformerEventSource::<StatefulSet>::new().name("all sets"))
        .refers_to::<Secret>(|cache: &Cache| {
            vec![ObjectKey::namespaced("default", &format!("{}-given", cache.name_any()))]
        })
        .max_reconciliation_interval(Duration::from_secs(900));
    let election = LeaderElection::new("caches").namespace("default");
    Operator::builder().leader_election(election).register(controller)
}

/// With metrics that go elsewhere, and with a listener that serves them: an operator has one of both tasks.
#[tokio::test(start_paused = true)]
async fn an_operator_that_uses_much_leaves_no_task() -> Result<()> {
    let numbers = Numbers::default();
    let measured = all_of_it().metrics(numbers.recorder());
    let served = all_of_it().http_address(([127, 0, 0, 1], 0).into());
    for (builder, task) in [(measured, "metrics"), (served, "http")] {
        let tasks = ends_with(task, builder, Cache::crd(), &cache(), "").await?;
        for name in ["discovery", "event source", "leader election", "processor", task] {
            ensure!(tasks.contains_key(name), "no {name}: {tasks:?}");
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_operator_with_records_leaves_no_task() -> Result<()> {
    let (ledger, _errors) = Ledger::new();
    let spec = json!({ "name": "shop", "account": "gold", "hosts": { "a": "1" } });
    // Nobody knows of a site that it has no name yet.
    let expected = "but may do so within 6s";
    let one = site("one", spec);
    ledger.wants(&one);
    let builder = declare(&ledger, false);
    let tasks = ends_with("records", builder, Site::crd(), &one, expected).await?;
    ensure!(tasks.contains_key("event source"), "{tasks:?}");
    Ok(())
}
