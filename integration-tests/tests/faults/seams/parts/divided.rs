//! Sources that follow the same namespaces as the controller, one by one.

use integration_tests::prelude::*;
use operator_core::observe::Cause;

use super::{
    super::{message, pass},
    *,
};

#[tokio::test(start_paused = true)]
async fn without_the_right_to_its_primaries_a_namespace_waits_alone() -> Result<()> {
    waits_alone("testresources", "primaries", primaries()).await
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_a_secondary_a_namespace_waits_alone() -> Result<()> {
    waits_alone("configmaps", "maps", managed_maps()).await
}

async fn waits_alone(plural: &str, missing: &str, rule: Value) -> Result<()> {
    let two = Two::new().await?;
    two.grant_all_but(missing).await?;
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let script = saying();
    let operator = TestOperator::start_unsynced(two.with_few_rights().register(two.keeper(&script)?)).await?;
    pass(60).await;
    assert_eq!(message(&two.scene, "one").await?.as_deref(), Some("first"), "its namespace is complete");
    assert_eq!(script.runs.of("two").len(), 0, "that of the other one isn't");
    assert_eq!((two.other_says("two").await?, two.other_maps().await?), (None, Vec::new()));
    let (source, reason, advice) = only_unhealthy(&operator).await?;
    assert_eq!(source.namespace.as_ref(), Some(&two.other));
    assert_eq!(source.holds_back, HeldBack::Namespace(two.other.clone()));
    assert!(reason.contains(&format!("cannot list resource \"{plural}\"")), "{reason}");
    let advice = advice.context("the rule")?;
    assert!(advice.starts_with("grant list and watch on ") && advice.contains(&two.other), "{advice}");

    // Those that run go on, and what happens to those that wait is kept.
    two.scene.set("one", "second").await?;
    for value in ["second", "third", "fourth"] {
        two.set_other("two", value).await?;
        pass(10).await;
    }
    pass(3600).await;
    assert_eq!(message(&two.scene, "one").await?.as_deref(), Some("second"));
    assert_eq!(script.runs.of("one").len(), 2);
    assert_eq!(script.runs.of("two").len(), 0);

    two.scene.grant_in(&two.other, missing, &two.user, &rule).await?;
    pass(120).await;
    assert_eq!(two.other_says("two").await?.as_deref(), Some("fourth"), "without a restart");
    assert_eq!(two.other_maps().await?, ["two-a", "two-b"]);
    let runs = script.runs.of("two");
    caught_up_once(&runs);
    assert!(runs[0].causes.contains(Cause::InitialList), "{runs:?}");
    assert_eq!(script.runs.of("one").len(), 2, "nobody else runs for it");
    assert!(operator.unhealthy_sources().await.is_empty());
    operator.settled().await?;
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_run_sees_all_of_its_own_namespace() -> Result<()> {
    const MAPS: usize = 700;
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    two.create_other("one", "first").await?;
    let maps = Api::<ConfigMap>::namespaced(two.scene.client.clone(), &two.other);
    for number in 0..MAPS {
        let map = serde_json::from_value(json!({ "metadata": { "name": format!("map-{number:03}") } }))?;
        maps.create(&PostParams::default(), &map).await?;
    }
    // The first page of the other namespace comes, the second one doesn't for a while.
    let second = Rule::on(Verb::List).resource("configmaps").namespace(&two.other).occurrences(2..=100);
    let faults = Faults::new([second.status(StatusAnswer::forbidden("not now"))]);
    let source = InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        vec![ObjectKey::namespaced(map.metadata.namespace.as_deref().unwrap_or_default(), "one")]
    });
    let script = counting();
    let controller = two.scene.controller(&script).watches(source).namespaces(two.namespaces());
    let builder = two.operator().transport(faults.hook()).register(controller);
    let operator = TestOperator::start_unsynced(builder).await?;
    pass(60).await;
    assert_eq!(message(&two.scene, "one").await?.as_deref(), Some("0"));
    assert_eq!(two.other_says("one").await?, None, "a page is not the whole");
    faults.off();
    pass(300).await;
    assert_eq!(two.other_says("one").await?.as_deref(), Some("700"));
    assert_eq!(script.runs.count(), 2, "one for each primary, none for a part of the list");
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_is_to_go_is_cleaned_up_once_its_namespace_is_synced() -> Result<()> {
    let two = Two::new().await?;
    let operator = TestOperator::start(two.operator().register(two.keeper(&saying())?)).await?;
    two.create_other("two", "first").await?;
    pass(60).await;
    assert_eq!(two.other_maps().await?, ["two-a", "two-b"]);
    operator.stop().await;
    two.others().delete("two", &DeleteParams::default()).await?;

    let (script, faults) = (saying(), two.refused("configmaps"));
    let builder = two.operator().transport(faults.hook()).register(two.keeper(&script)?);
    let operator = TestOperator::start_unsynced(builder).await?;
    pass(600).await;
    assert_eq!(script.cleanups.count(), 0, "it would not find what is to be deleted");
    assert_eq!(two.other_maps().await?, ["two-a", "two-b"]);
    faults.off();
    pass(300).await;
    assert!(two.others().get_opt("two").await?.is_none());
    assert_eq!(two.other_maps().await?, Vec::<String>::new());
    operator.settled().await?;
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn all_wait_for_a_definition_and_catch_up_when_it_comes() -> Result<()> {
    let two = Two::new().await?;
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let script = saying();
    let controller = two.keeper(&script)?.owns::<LateTestResource>();
    let operator = TestOperator::start_unsynced(two.operator().register(controller)).await?;
    pass(60).await;
    assert_eq!(script.runs.count(), 0);
    let unhealthy = operator.unhealthy_sources().await;
    let named: Vec<_> = unhealthy.iter().map(|source| (&*source.source, source.holds_back.clone())).collect();
    let mut waiting = two.namespaces();
    waiting.sort_unstable();
    let expected = waiting.map(|name| ("LateTestResource", HeldBack::Namespace(name.to_owned())));
    assert_eq!(named, expected);
    for source in unhealthy {
        let SourceHealth::Unhealthy { advice: Some(advice), .. } = source.health else {
            panic!("no advice: {source:?}")
        };
        let name = LateTestResource::crd_name();
        assert!(advice.starts_with(&format!("install the CustomResourceDefinition `{name}`")), "{advice}");
    }
    two.scene.cluster.install_crds([LateTestResource::crd()]).await?;
    pass(120).await;
    caught_up_once(&script.runs.of("one"));
    caught_up_once(&script.runs.of("two"));
    assert!(operator.unhealthy_sources().await.is_empty());
    operator.stop().await;
    Ok(())
}
