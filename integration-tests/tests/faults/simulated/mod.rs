//! Faults on the API server inside the process, in virtual time. The names of the tests begin with their rows.
//!
//! Each test has a server of its own, and an operator that keeps two config maps and a status for each primary. Most rows put
//! one fault into the [life](life::life) of a primary and compare the outcome with the same life without faults.

mod admission;
mod answers;
mod clocks;
mod crashes;
mod fights;
mod leases;
mod life;
mod lists;
mod looks;
mod memory;
mod others;
mod panics;
mod roles;
mod shapes;
mod spread;
mod stale;
mod stories;
mod storms;
mod terms;
mod thefts;
mod user_code;
mod watches;

use integration_tests::prelude::*;
use operator_core::{
    client::TransportHook, controller::IntoController, environment::Environment, operator::Settling,
    testing::Settled, workflow::WorkflowBuilder,
};

/// Lets virtual time pass.
pub(super) async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// A server of the test's own, with the custom resource.
pub(super) async fn scene() -> Result<Scene> {
    let scene = Scene::on(TestCluster::in_process(), "faults").await?;
    // Faults make runs fail: what came of it is judged, whatever their errors say.
    scene.failures.allow("");
    scene.install_crd().await?;
    Ok(scene)
}

/// Two config maps with the primary's value. The second one is created after the first, and no garbage collector deletes it.
pub(super) fn two_maps() -> WorkflowBuilder<TestResource> {
    let first = wanted_map("a");
    let second = wanted_map("b").without_owner().after(&first);
    Workflow::builder().nodes((first, second))
}

fn maps() -> Result<Workflow<TestResource>> {
    Ok(two_maps().build()?)
}

/// Writes the primary's value into its status.
pub(super) fn saying() -> Script {
    Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move { Ok(Said::status(said(primary.spec.value.clone()))) })
    })
}

/// Writes `right` into the status, and `wrong` once after it was told to.
fn erring() -> (Script, Arc<AtomicBool>) {
    let errs = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&errs);
    let script = Script::new(move |_, _: Arc<TestResource>, _| {
        let says = if told.swap(false, Ordering::Relaxed) { "wrong" } else { "right" };
        Box::pin(async move { Ok(Said::status(said(says.to_owned()))) })
    });
    (script, errs)
}

/// Never gives up.
fn patient() -> Result<GenericRetry> {
    Ok(GenericRetry::default().without_max_attempts().with_max_interval(Duration::from_secs(30))?)
}

/// Keeps the config maps and the status.
fn keeper(scene: &Scene, script: &Script) -> Result<ControllerBuilder<Script>> {
    Ok(scene.managed(script, &maps()?).name("keeper").cleaner(true).retry(patient()?))
}

/// A controller without dependents that knows the config maps that its primaries own.
fn owner(scene: &Scene, script: &Script) -> Result<ControllerBuilder<Script>> {
    Ok(script.controller().name("owner").owns::<ConfigMap>().retry(patient()?).namespaces([&scene.namespace]))
}

/// Starts an operator that meets these faults. It may not be synced for long, or ever.
pub(super) async fn under(
    faults: &Faults,
    scene: &Scene,
    controller: impl IntoController,
) -> Result<TestOperator> {
    under_hooks([faults.hook()], scene, controller).await
}

/// The same with other layers of the transport.
pub(super) async fn under_hooks(
    hooks: impl IntoIterator<Item = TransportHook>,
    scene: &Scene,
    controller: impl IntoController,
) -> Result<TestOperator> {
    // Waits are spread by chance, which is the same each time.
    let builder = scene.operator().environment(|| Environment::real().with_seed(1));
    let builder = hooks.into_iter().fold(builder, OperatorBuilder::transport).register(controller);
    Ok(TestOperator::start_unsynced(builder).await?)
}

/// Waits until nothing is left to do for five minutes, however long it takes; hours pass in milliseconds. Checks are
/// rare, because each of them costs real time.
async fn rest(operator: &TestOperator) -> Result<Settled> {
    let look = Settling { no_timer_within: Duration::from_secs(300), timeout: Duration::from_millis(20) };
    let begin = Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        match operator.settled_as(look).await {
            Ok(settled) => return Ok(settled),
            Err(busy) if begin.elapsed() > Duration::from_secs(3600) => return Err(busy.into()),
            Err(_) => tokio::time::sleep(pause).await,
        }
        pause = (pause * 3 / 2).min(Duration::from_secs(5));
    }
}

/// Leads the life of a primary, created, changed and deleted, until a fault has happened in it.
async fn live_until(fault: &Rule, scene: &Scene) -> Result<()> {
    let second = Duration::from_secs(1);
    scene.create("one", "first").await?;
    tokio::time::sleep(second).await;
    if fault.fired() == 0 {
        scene.set("one", "second").await?;
        tokio::time::sleep(second).await;
    }
    if fault.fired() == 0 {
        scene.delete("one").await?;
        tokio::time::sleep(second).await;
    }
    anyhow::ensure!(fault.fired() == 1, "it happened {} times", fault.fired());
    Ok(())
}

/// The end of a life that may already have ended.
async fn over_with_its_maps(operator: &TestOperator, scene: &Scene) -> Result<()> {
    let names: &[&str] = match scene.resources.get_opt("one").await? {
        Some(_) => &["one"],
        None => &[],
    };
    over(operator, scene, names).await?;
    anyhow::ensure!(scene.values().await?.is_empty(), "not all maps are gone");
    Ok(())
}

/// The end of every test: nothing is written in ten minutes; when the primaries are gone, nothing is kept about them.
async fn over(operator: &TestOperator, scene: &Scene, names: &[&str]) -> Result<()> {
    rest(operator).await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    let written = rest(operator).await?.written();
    assert!(written.is_empty(), "all was done, and this was written: {written:?}");
    for name in names {
        scene.delete(name).await?;
        scene.until_gone(name).await?;
    }
    rest(operator).await?;
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, &footprint.leftovers[..]), (0, &[][..]), "something is kept");
    operator.stop().await;
    Ok(())
}
