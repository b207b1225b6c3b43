//! Sources that follow other namespaces than the controller: it is unknown which primaries they concern.

use futures::{FutureExt, future::BoxFuture};
use integration_tests::prelude::*;
use operator_core::{
    WatchScope,
    event_source::{EventSource, SourceDeclaration, Sources, Wiring},
    observe::SourceIndex,
};
use tokio::sync::Notify;

use super::{
    super::{message, pass},
    *,
};

/// No primary runs before lists are answered; then all do.
async fn everybody_waits(two: &Two, source: InformerEventSource<ConfigMap>, faults: &Faults) -> Result<()> {
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let script = saying();
    let controller = two.scene.controller(&script).watches(source).namespaces(two.namespaces());
    let operator =
        TestOperator::start_unsynced(two.operator().transport(faults.hook()).register(controller)).await?;
    pass(300).await;
    assert_eq!(script.runs.count(), 0);
    let (source, reason, _) = only_unhealthy(&operator).await?;
    assert_eq!((&*source.source, source.holds_back), ("ConfigMap", HeldBack::Everybody));
    assert!(reason.contains("is forbidden"), "{reason}");
    faults.off();
    pass(120).await;
    caught_up_once(&script.runs.of("one"));
    caught_up_once(&script.runs.of("two"));
    assert_eq!(message(&two.scene, "one").await?.as_deref(), Some("first"));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn everybody_waits_for_a_source_of_all_namespaces() -> Result<()> {
    let two = Two::new().await?;
    let list = Rule::on(Verb::List).resource("configmaps");
    let faults = Faults::new([list.status(StatusAnswer::forbidden("configmaps is forbidden"))]);
    let source = InformerEventSource::<ConfigMap>::new().namespaces(WatchScope::All);
    everybody_waits(&two, source, &faults).await
}

#[tokio::test(start_paused = true)]
async fn everybody_waits_for_a_source_with_namespaces_of_its_own() -> Result<()> {
    let two = Two::new().await?;
    let third = two.scene.cluster.namespace("parts-third").await?;
    let list = Rule::on(Verb::List).resource("configmaps").namespace(&third);
    let faults = Faults::new([list.status(StatusAnswer::forbidden("configmaps is forbidden"))]);
    let scope = WatchScope::Namespaces([two.scene.namespace.clone(), third].into());
    let source = InformerEventSource::<ConfigMap>::new().namespaces(scope);
    everybody_waits(&two, source, &faults).await
}

/// A source of the user's own, which is synced when the test says so.
#[derive(Clone, Debug, Default)]
struct Own(Arc<(AtomicBool, Notify)>);

impl Own {
    fn is_there(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        self.0.1.notify_waiters();
    }
}

impl SourceDeclaration for Own {
    fn name(&self) -> String {
        "own".to_owned()
    }

    fn build(&self, _: SourceIndex, _: &Wiring, sources: &mut Sources) {
        sources.add_source(Arc::new(self.clone()));
    }
}

impl EventSource for Own {
    fn name(&self) -> &str {
        "own"
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let own = self.clone();
        async move {
            let (is_there, changed) = &*own.0;
            loop {
                let changed = changed.notified();
                if is_there.load(Ordering::SeqCst) {
                    return;
                }
                changed.await;
            }
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn everybody_waits_for_a_source_of_the_users_own_and_it_is_named() -> Result<()> {
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    let (script, own) = (saying(), Own::default());
    let controller = two.scene.controller(&script).watches(own.clone()).namespaces(two.namespaces());
    let operator = TestOperator::start_unsynced(two.operator().register(controller)).await?;
    pass(60).await;
    assert_eq!(script.runs.count(), 0);
    let unhealthy = operator.unhealthy_sources().await;
    let named: Vec<_> =
        unhealthy.iter().map(|source| (&*source.source, &source.health, &source.holds_back)).collect();
    assert_eq!(named, [("own", &SourceHealth::Syncing, &HeldBack::Everybody)]);
    own.is_there();
    pass(1).await;
    assert_eq!(script.runs.count(), 1);
    assert!(operator.unhealthy_sources().await.is_empty());
    operator.stop().await;
    Ok(())
}

/// A config map in the namespace that the primary's value names.
fn elsewhere(primary: &TestResource) -> ConfigMap {
    let mut map = map_of(primary, "a", primary.value());
    map.metadata.namespace = Some(primary.value().to_owned());
    map
}

#[tokio::test(start_paused = true)]
async fn what_is_wanted_in_a_namespace_that_is_not_synced_is_not_taken_for_missing() -> Result<()> {
    let two = Two::new().await?;
    let workflow = || workflow_of_one(wanted("map", elsewhere).without_owner());
    let declared =
        |script: &Script| anyhow::Ok(two.scene.managed(script, &workflow()?).namespaces(two.namespaces()));
    let operator = TestOperator::start(two.operator().register(declared(&saying())?)).await?;
    two.scene.create("one", &two.other).await?;
    pass(60).await;
    assert_eq!(two.other_maps().await?, ["one-a"]);
    operator.stop().await;

    let faults = two.refused("configmaps");
    let created =
        Rule::on(Verb::Create).resource("configmaps").fault(Fault::Delay(std::time::Duration::ZERO));
    let applied = Rule::on(Verb::Apply).resource("configmaps").fault(Fault::Delay(std::time::Duration::ZERO));
    let written = Faults::new([created.clone(), applied.clone()]);
    let builder = two.operator().transport(written.hook()).transport(faults.hook());
    let operator = TestOperator::start_unsynced(builder.register(declared(&saying())?)).await?;
    // More than the attempts of a default policy.
    pass(600).await;
    assert_eq!((created.fired(), applied.fired()), (0, 0), "it may be there");
    faults.off();
    pass(360).await;
    operator.settled().await?;
    assert_eq!((created.fired(), applied.fired()), (0, 0), "and it is");
    two.scene.delete("one").await?;
    pass(60).await;
    assert!(two.scene.resources.get_opt("one").await?.is_none());
    operator.stop().await;
    Ok(())
}

/// Its list is refused, so the cache knows nothing of it; the clean-up waits, because nothing else would delete it.
#[tokio::test(start_paused = true)]
async fn a_clean_up_waits_for_a_namespace_in_which_a_name_of_its_own_may_be_taken() -> Result<()> {
    let two = Two::new().await?;
    let workflow = || workflow_of_one(wanted("map", elsewhere).without_owner());
    let declared =
        |script: &Script| anyhow::Ok(two.scene.managed(script, &workflow()?).namespaces(two.namespaces()));
    let operator = TestOperator::start(two.operator().register(declared(&saying())?)).await?;
    two.scene.create("one", &two.other).await?;
    pass(60).await;
    operator.stop().await;

    let faults = two.refused("configmaps");
    let builder = two.operator().transport(faults.hook()).register(declared(&saying())?);
    let operator = TestOperator::start_unsynced(builder).await?;
    two.scene.delete("one").await?;
    pass(3600).await;
    assert!(two.scene.resources.get_opt("one").await?.is_some(), "its map would be left over");
    assert_eq!(two.other_maps().await?, ["one-a"]);
    faults.off();
    pass(360).await;
    assert!(two.scene.resources.get_opt("one").await?.is_none());
    assert_eq!(two.other_maps().await?, Vec::<String>::new());
    operator.stop().await;
    Ok(())
}
