//! A start that fails if something is missing, and the reports of sources that stop.

use std::panic;

use futures::{FutureExt, future::BoxFuture};
use integration_tests::prelude::*;
use operator_core::{
    Error,
    event_source::{EventSource, SourceDeclaration, Sources, Wiring},
    observe::SourceIndex,
    operator::{Leadership, Stopped, StoppedSource},
};

use super::{super::pass, *};
use crate::replica::{election, lease};

/// The callback's arguments.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Vec<StoppedSource>>>);

impl Told {
    fn callback(&self) -> impl Fn(&StoppedSource) + Send + Sync + 'static {
        let told = Arc::clone(&self.0);
        move |stopped| told.lock().push(stopped.clone())
    }

    fn take(&self) -> Vec<StoppedSource> {
        std::mem::take(&mut self.0.lock())
    }
}

const TIMEOUT: Duration = Duration::from_secs(5);

fn strict(builder: OperatorBuilder, told: &Told) -> OperatorBuilder {
    builder.cache_sync_timeout(TIMEOUT).stop_on_source_error_at_start(true).on_source_stopped(told.callback())
}

/// On both servers: the message, the callback, and that nothing runs, neither before nor after.
#[operator_test]
async fn a_start_fails_in_time_with_source_namespace_and_the_missing_rule() -> Result<()> {
    let two = Two::on(Scene::new("strict").await?).await?;
    two.grant_all_but("maps").await?;
    two.scene.create("one", "first").await?;
    let (script, told) = (saying(), Told::default());
    let builder = strict(two.with_few_rights(), &told).register(two.keeper(&script)?);
    let operator = builder.build()?;
    let begin = Instant::now();
    let result = operator.start().await;
    assert!(result.is_err(), "it started");
    let took = begin.elapsed();
    assert!(took >= TIMEOUT && took < TIMEOUT * 2, "{took:?}");
    let error = result.err().map(|error| chain_of(&error)).unwrap_or_default();
    let (other, user) = (&two.other, &two.user);
    let rule = format!(
        "configmaps is forbidden: User \"{user}\" cannot list resource \"configmaps\" in API group \"\" in the namespace \
         \"{other}\"; grant list and watch on configmaps in namespace {other} to {user}"
    );
    let expected =
        format!("not synced within 5 s: source ConfigMap of controller keeper in namespace {other}: {rule}");
    assert_eq!(error, expected);
    let stopped = StoppedSource {
        controller: "keeper".to_owned(),
        source: "ConfigMap".to_owned(),
        namespace: Some(other.clone()),
        error: rule,
    };
    assert_eq!(told.take(), [stopped]);
    assert_eq!(script.runs.count(), 0, "nobody runs before everything is there");
    assert_eq!(operator.stop().await, Stopped::NotRunning);
    assert_eq!(operator.footprint().await.tasks, BTreeMap::new());

    // The same operator starts once the right is there.
    two.scene.grant_in(&two.other, "maps", &two.user, &managed_maps()).await?;
    operator.start().await?;
    two.scene.until("a status", "one", |object: &TestResource| object.status.is_some()).await?;
    assert!(told.take().is_empty());
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_right_that_comes_in_time_lets_a_strict_start_go_on() -> Result<()> {
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    let (script, told, faults) = (saying(), Told::default(), two.refused("configmaps"));
    let builder = strict(two.operator().transport(faults.hook()), &told).register(two.keeper(&script)?);
    let operator = builder.build()?;
    let comes = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(script.runs.count(), 0, "its own namespace is synced, and it waits for the other one");
        faults.off();
    };
    let (started, ()) = tokio::join!(operator.start(), comes);
    started?;
    pass(1).await;
    assert_eq!((script.runs.count(), told.take()), (1, Vec::new()));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn by_default_a_start_does_not_fail_and_nobody_is_told() -> Result<()> {
    let two = Two::new().await?;
    let (told, faults) = (Told::default(), two.refused("configmaps"));
    let builder = two.operator().transport(faults.hook()).cache_sync_timeout(TIMEOUT);
    let builder = builder.on_source_stopped(told.callback()).register(two.keeper(&saying())?);
    let operator = TestOperator::start_unsynced(builder).await?;
    pass(3600).await;
    only_unhealthy(&operator).await?;
    assert!(told.take().is_empty(), "it tries again, it hasn't stopped");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn whoever_fails_to_start_gives_its_lease_back() -> Result<()> {
    let two = Two::new().await?;
    let (told, faults) = (Told::default(), two.refused("configmaps"));
    let builder = strict(two.operator().transport(faults.hook()), &told);
    let builder = builder.leader_election(election(&two.scene, "first")).register(two.keeper(&saying())?);
    let operator = builder.build()?;
    let leads = async {
        tokio::time::sleep(TIMEOUT / 2).await;
        operator.leadership().await
    };
    let (started, leadership) = tokio::join!(operator.start(), leads);
    assert!(matches!(started, Err(Error::NotSynced { .. })), "{started:?}");
    assert_eq!(leadership, Some(Leadership::Leading));
    assert_eq!(lease(&two.scene).await?.0, "", "nobody holds it");
    assert_eq!(told.take().len(), 1);
    Ok(())
}

/// A source with a bug.
#[derive(Clone, Debug)]
struct Panicking;

impl SourceDeclaration for Panicking {
    fn name(&self) -> String {
        "panicking".to_owned()
    }

    fn build(&self, _: SourceIndex, _: &Wiring, sources: &mut Sources) {
        sources.add_source(Arc::new(self.clone()));
    }
}

impl EventSource for Panicking {
    fn name(&self) -> &str {
        "panicking"
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            panic::resume_unwind(Box::new("a bug"))
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_whose_task_panics_has_stopped_for_good() -> Result<()> {
    let two = Two::new().await?;
    let told = Told::default();
    let controller = two.scene.controller(&saying()).name("web").watches(Panicking);
    let builder = two.operator().on_source_stopped(told.callback()).register(controller);
    let operator = TestOperator::start(builder).await?;
    assert!(told.take().is_empty());
    pass(120).await;
    let stopped = told.take();
    let named: Vec<String> = stopped.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["source panicking of controller web: its task panicked"]);
    operator.stop().await;
    assert!(told.take().is_empty(), "a stop of the operator is none of a source");
    Ok(())
}
