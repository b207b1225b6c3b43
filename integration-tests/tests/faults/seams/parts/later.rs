//! Changes after the start: a right that is lost, a replica that begins to lead, sources that start later, and pushes
//! that came before.

use integration_tests::prelude::*;
use operator_core::{CachingInboundEventSource, event_source::ExternalResource, testing::faults::LineFault};

use super::{
    super::{message, pass},
    *,
};
use crate::replica::{LEASE, election, until_leading};

#[tokio::test(start_paused = true)]
async fn a_right_that_is_lost_after_the_start_makes_nobody_wait() -> Result<()> {
    let two = Two::new().await?;
    let faults = Faults::none();
    let builder = two.operator().transport(faults.hook()).register(two.keeper(&saying())?);
    let operator = TestOperator::start(builder).await?;
    two.create_other("two", "first").await?;
    pass(60).await;
    faults.add(&two.refusal("configmaps"));
    // The next event ends the watch, once it is a new one.
    let ended = Rule::watch("configmaps").namespace(&two.other).first(1).event(LineFault::Gone);
    faults.add(&ended);
    pass(300).await;
    two.create_other("three", "first").await?;
    pass(600).await;
    assert_eq!(ended.fired(), 1);
    let (source, ..) = only_unhealthy(&operator).await?;
    assert_eq!((source.namespace.as_ref(), source.holds_back), (Some(&two.other), HeldBack::Nobody));
    two.set_other("two", "second").await?;
    pass(60).await;
    assert_eq!(two.other_says("two").await?.as_deref(), Some("second"));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_new_leader_starts_with_the_namespaces_that_are_synced() -> Result<()> {
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let leader = two.operator().leader_election(election(&two.scene, "first"));
    let leader = TestOperator::start(leader.register(two.scene.controller(&Script::idle()))).await?;
    until_leading(leader.operator()).await?;

    let (script, faults) = (saying(), two.refused("configmaps"));
    let builder = two.operator().transport(faults.hook()).leader_election(election(&two.scene, "second"));
    // Without a finalizer, whose write would be refused before a run that must not be comes to user code.
    let controller = two.scene.controller(&script).owns::<ConfigMap>().namespaces(two.namespaces());
    let operator = TestOperator::start_unsynced(builder.register(controller)).await?;
    pass(60).await;
    assert_eq!(script.runs.count(), 0, "it stands by for {LEASE}");
    leader.stop().await;
    until_leading(operator.operator()).await?;
    pass(60).await;
    assert_eq!(message(&two.scene, "one").await?.as_deref(), Some("first"));
    assert_eq!(script.runs.of("two").len(), 0);
    faults.off();
    pass(120).await;
    caught_up_once(&script.runs.of("two"));
    assert_eq!(two.other_says("two").await?.as_deref(), Some("first"));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_source_that_starts_later_holds_back_only_nodes_in_the_namespace_that_is_missing() -> Result<()> {
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let node = wanted_map("a").needs(Switch::on());
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let (script, faults) = (saying(), two.refused("configmaps"));
    let controller = two.scene.managed(&script, &workflow).namespaces(two.namespaces());
    let operator =
        TestOperator::start_unsynced(two.operator().transport(faults.hook()).register(controller)).await?;
    pass(120).await;
    assert!(two.scene.values().await?.contains_key("one-a"), "{:?}", operator.unhealthy_sources().await);
    assert_eq!(two.other_maps().await?, Vec::<String>::new());
    faults.off();
    pass(120).await;
    assert_eq!(two.other_maps().await?, ["two-a"]);
    operator.stop().await;
    Ok(())
}

/// Something that another system pushes.
#[derive(Clone, Debug, PartialEq)]
struct Pushed;

impl ExternalResource for Pushed {
    type Id = u8;

    fn id(&self) -> u8 {
        0
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_pushed_does_not_wait_for_primaries_that_cannot_be_listed() -> Result<()> {
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let source = CachingInboundEventSource::new("pushes", |_: Arc<TestResource>| async {
        Ok::<Vec<Pushed>, anyhow::Error>(Vec::new())
    });
    let handle = source.handle();
    let (waits, runs) = (ObjectKey::namespaced(&two.other, "two"), two.scene.key("one"));
    for key in [&waits, &runs] {
        handle.put(key, vec![Pushed]);
    }
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        let pushed = context.external::<Pushed>().len();
        Box::pin(async move { Ok(Said::status(said(pushed.to_string()))) })
    });
    let faults = two.refused("testresources");
    let controller = two.scene.controller(&script).watches(source).namespaces(two.namespaces());
    let operator =
        TestOperator::start_unsynced(two.operator().transport(faults.hook()).register(controller)).await?;
    pass(60).await;
    assert_eq!(message(&two.scene, "one").await?.as_deref(), Some("1"));
    faults.off();
    pass(120).await;
    assert_eq!(two.other_says("two").await?.as_deref(), Some("1"), "what came early is kept for it");
    operator.stop().await;
    Ok(())
}
