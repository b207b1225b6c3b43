//! An operator ends with all its tasks, whatever it has used.

use integration_tests::prelude::*;
use k8s_openapi::api::{apps::v1::StatefulSet, batch::v1::Job};
use operator_core::{
    LeaderElection, PollingEventSource, Wire as _,
    controller::IntoController,
    environment::Environment,
    prelude::{Context, Reconciler, Result as RunResult, served},
    testing::LogCapture,
};

use super::{
    cache,
    faults::Fault,
    operator::{Cache, controller, headless, monitor},
};

/// The longest time that a stop may take when nothing is in progress, in virtual time.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Starts an operator, lets it bring a cache about, and stops it.
async fn ends(
    name: &str,
    controller: impl IntoController,
    elects: bool,
) -> Result<BTreeMap<&'static str, usize>> {
    let (log, _guard) = LogCapture::start();
    let cluster = TestCluster::in_process();
    cluster.install_crds([Cache::crd()]).await?;
    let environment = Environment::real();
    let given = environment.clone();
    let builder =
        cluster.connect(Operator::builder()).environment(move || given.clone()).register(controller);
    let builder = match elects {
        true => builder.leader_election(LeaderElection::new("caches").namespace("default")),
        false => builder,
    };
    let running = TestOperator::start(builder).await?;
    let caches: Api<Cache> = Api::namespaced(cluster.client()?, "default");
    caches.create(&PostParams::default(), &cache()).await?;
    running.settled().await?;
    let tasks = environment.tasks();
    let begin = Instant::now();
    running.stop().await;
    ensure!(begin.elapsed() <= AT_ONCE, "{name} takes {:?} to stop", begin.elapsed());
    ensure!(environment.tasks().is_empty(), "{name} leaves {:?}", environment.tasks());
    let lines = log.lines(tracing::Level::WARN);
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
    ends("a plain workflow", of().workflow((headless,)), false).await?;
    let workflow = Workflow::builder().nodes((headless,)).explicit_invocation().build()?;
    let explicit = Controller::builder(Explicit).records_events(true).workflow(workflow);
    ends("an explicit invocation", explicit, false).await?;
    let optional = || monitor.kind(("monitoring.example.com/v1", "ServiceMonitor"));
    let tasks = ends("when_served", of().workflow((headless, optional().when_served())), false).await?;
    ensure!(tasks.contains_key("discovery"), "nothing asks what is served: {tasks:?}");
    let needs = headless.needs(served::<Job>());
    ends("needs", of().workflow((needs,)), false).await?;
    Ok(())
}

/// All that an ordinary operator has, and what few have: sources that poll, references, an election, metrics, intervals.
#[tokio::test(start_paused = true)]
async fn an_operator_that_uses_much_leaves_no_task() -> Result<()> {
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
    let tasks = ends("all of it", controller, true).await?;
    for name in ["discovery", "event source", "leader election", "processor"] {
        ensure!(tasks.contains_key(name), "no {name}: {tasks:?}");
    }
    Ok(())
}
