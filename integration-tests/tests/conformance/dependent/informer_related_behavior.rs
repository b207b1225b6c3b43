//! An operator that may not list everything that it should watch, from the start or later: it reports this, continues
//! with what it may do, and catches up as soon as it may do the rest.
//!
//! With the setting for it, it stops at its start instead, and calls a handler.

use std::fmt::Debug;

use integration_tests::prelude::*;
use integration_tests::rights::{managed_maps, primaries};
use k8s_openapi::NamespaceResourceScope;
use operator_core::{Error, observe::SourceHealth, operator::Stopped};
use serde::de::DeserializeOwned;

fn user(scene: &Scene) -> String {
    format!("{}-operator", scene.namespace)
}

/// Starts an operator as a user who may do only what was granted.
async fn start(scene: &Scene, namespaces: &[&str], relist: &Relist) -> Result<(TestOperator, Script)> {
    let script = Script::idle();
    let controller =
        scene.managed(&script, &workflow_of_one(wanted_map("a"))?).namespaces(namespaces.to_vec());
    let config = scene.cluster.config_as(&user(scene), &[]);
    let operator = scene.operator().config(config).transport(relist.hook()).register(controller);
    Ok((TestOperator::start_unsynced(operator).await?, script))
}

/// Waits until the sources of these plurals alone don't work, because they may not list them in `namespace`.
async fn are_forbidden<const N: usize>(
    operator: &TestOperator,
    plurals: [&str; N],
    namespace: &str,
) -> Result<()> {
    eventually(&format!("the sources of {plurals:?}, and they alone, to be forbidden"), async || {
        let unhealthy = operator.unhealthy_sources().await;
        let reasons = unhealthy.iter().filter_map(|source| match &source.health {
            SourceHealth::Unhealthy { reason, .. } => Some(&**reason),
            _ => None,
        });
        let reasons: Vec<&str> = reasons.collect();
        let of = format!("in the namespace \"{namespace}\"");
        let is_told = |plural: &str| {
            let words = format!("cannot list resource \"{plural}\"");
            reasons.iter().any(|reason| reason.contains(&words) && reason.contains(&of))
        };
        let all = unhealthy.len() == N && plurals.iter().all(|plural| is_told(plural));
        Ok(all.then_some(()))
    })
    .await
}

#[operator_test]
async fn it_starts_without_the_right_to_its_primaries() -> Result<()> {
    starts_without("testresources", ("primaries", primaries()), ("maps", managed_maps())).await
}

#[operator_test]
async fn it_starts_without_the_right_to_a_secondary() -> Result<()> {
    starts_without("configmaps", ("maps", managed_maps()), ("primaries", primaries())).await
}

async fn starts_without(plural: &'static str, missing: (&str, Value), granted: (&str, Value)) -> Result<()> {
    let scene = Scene::new("informer-related-behavior").await?;
    scene.grant(granted.0, &user(&scene), &granted.1).await?;
    scene.create("one", "first").await?;
    let (operator, script) = start(&scene, &[&scene.namespace], &Relist::of(plural)).await?;
    are_forbidden(&operator, [plural], &scene.namespace).await?;
    assert!(scene.values().await?.is_empty());
    assert_eq!(script.runs.count(), 0);
    scene.grant(missing.0, &user(&scene), &missing.1).await?;
    scene.until_values([("one-a", "first")]).await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    assert!(script.runs.count() > 0);
    Ok(())
}

#[operator_test]
async fn it_starts_without_the_rights_in_one_of_two_namespaces() -> Result<()> {
    let scene = Scene::new("informer-related-behavior").await?;
    let other = scene.cluster.namespace("informer-related-behavior-other").await?;
    let user = user(&scene);
    scene.grant("primaries", &user, &primaries()).await?;
    scene.grant("maps", &user, &managed_maps()).await?;
    let (operator, _) = start(&scene, &[&scene.namespace, &other], &Relist::of("testresources")).await?;
    are_forbidden(&operator, ["testresources", "configmaps"], &other).await?;

    // The one namespace doesn't wait for the other.
    scene.create("one", "first").await?;
    Api::namespaced(scene.client.clone(), &other)
        .create(&PostParams::default(), &TestResource::named("two", "second"))
        .await?;
    scene.until_values([("one-a", "first")]).await?;
    scene.set("one", "third").await?;
    scene.until_values([("one-a", "third")]).await?;
    are_forbidden(&operator, ["testresources", "configmaps"], &other).await?;
    scene.grant_in(&other, "maps", &user, &managed_maps()).await?;
    are_forbidden(&operator, ["testresources"], &other).await?;
    let others = Api::namespaced(scene.client.clone(), &other);
    assert!(values_in(&others).await?.is_empty());

    scene.grant_in(&other, "primaries", &user, &primaries()).await?;
    eventually("the other namespace's config map", async || {
        Ok(values_in(&others).await?.contains_key("two-a").then_some(()))
    })
    .await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}

#[operator_test]
async fn it_does_not_start_without_the_right_to_its_primaries_where_it_is_to_stop() -> Result<()> {
    stops_without("testresources", "primary", ("maps", managed_maps())).await
}

#[operator_test]
async fn it_does_not_start_without_the_right_to_a_secondary_where_it_is_to_stop() -> Result<()> {
    stops_without("configmaps", "ConfigMap", ("primaries", primaries())).await
}

/// An operator that is to stop where it can't list everything at its start.
fn strict(scene: &Scene, script: &Script) -> Result<OperatorBuilder> {
    Ok(scene
        .operator()
        .config(scene.cluster.config_as(&user(scene), &[]))
        .register(scene.managed(script, &workflow_of_one(wanted_map("a"))?))
        .cache_sync_timeout(Duration::from_secs(3))
        .stop_on_source_error_at_start(true))
}

async fn stops_without(plural: &str, source: &str, granted: (&str, Value)) -> Result<()> {
    let scene = Scene::new("informer-related-behavior").await?;
    scene.grant(granted.0, &user(&scene), &granted.1).await?;
    scene.create("one", "first").await?;
    let (script, stopped) = (Script::idle(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&stopped);
    let builder = strict(&scene, &script)?;
    let operator = builder.on_source_stopped(move |source| noted.lock().push(source.clone())).build()?;
    let started = operator.start().await;
    assert!(matches!(started, Err(Error::NotSynced { .. })), "{started:?}");
    let stopped = stopped.lock().clone();
    assert_eq!(stopped.len(), 1, "{stopped:?}");
    assert_eq!((&*stopped[0].source, stopped[0].namespace.as_ref()), (source, Some(&scene.namespace)));
    assert!(stopped[0].error.contains(&format!("cannot list resource \"{plural}\"")), "{stopped:?}");
    assert_eq!((script.runs.count(), scene.values().await?.len()), (0, 0), "nothing was reconciled");
    Ok(())
}

#[operator_test]
async fn where_nobody_handles_the_stop_it_is_an_error_of_the_start_and_the_process_lives_on() -> Result<()> {
    let scene = Scene::new("informer-related-behavior").await?;
    scene.grant("maps", &user(&scene), &managed_maps()).await?;
    scene.create("one", "first").await?;
    let script = Script::idle();
    let operator = strict(&scene, &script)?.build()?;
    for _ in 0..2 {
        let started = operator.start().await;
        assert!(matches!(started, Err(Error::NotSynced { .. })), "{started:?}");
        assert_eq!(operator.stop().await, Stopped::NotRunning, "it has ended by itself");
    }
    assert_eq!(script.runs.count(), 0);

    // The same operator may try again.
    scene.grant("primaries", &user(&scene), &primaries()).await?;
    let granted = async || Ok(operator.start().await.is_ok().then_some(()));
    eventually("a start with the right", granted).await?;
    scene.until_values([("one-a", "first")]).await?;
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn it_survives_the_loss_of_the_right_to_its_primaries() -> Result<()> {
    survives_the_loss::<TestResource>("testresources", "primaries", primaries()).await
}

#[operator_test]
async fn it_survives_the_loss_of_the_right_to_a_secondary() -> Result<()> {
    survives_the_loss::<ConfigMap>("configmaps", "maps", managed_maps()).await
}

/// What the server says to a run that makes its map without the right to.
const REFUSED: &str = "grant patch on configmaps";

async fn survives_the_loss<K>(plural: &'static str, name: &str, rule: Value) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let scene = Scene::new("informer-related-behavior").await?;
    let (user, relist) = (user(&scene), Relist::of(plural));
    scene.grant("primaries", &user, &primaries()).await?;
    scene.grant("maps", &user, &managed_maps()).await?;
    let (operator, script) = start(&scene, &[&scene.namespace], &relist).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    relist.watching().await?;

    scene.revoke(name).await?;
    let probe = Api::<K>::namespaced(scene.cluster.client_as(&user)?, &scene.namespace);
    until_refused(403, async || probe.list(&ListParams::default()).await).await?;
    // The server ends no open watch for it.
    relist.cut();
    are_forbidden(&operator, [plural], &scene.namespace).await?;
    let is_seen = plural != "testresources";
    if is_seen {
        scene.failures.expect(REFUSED);
    }
    scene.create("two", "second").await?;
    // A primary that is seen is tried in vain; of one that isn't nothing is known.
    if is_seen {
        let failed = async || Ok((scene.failures.seen(REFUSED) > 0).then_some(()));
        eventually("a run in vain", failed).await?;
    }
    are_forbidden(&operator, [plural], &scene.namespace).await?;
    assert_eq!(scene.values().await?.into_keys().collect::<Vec<_>>(), ["one-a"]);
    assert!(script.runs.of("two").is_empty(), "its workflow was not done");
    scene.grant(name, &user, &rule).await?;
    scene.until_values([("one-a", "first"), ("two-a", "second")]).await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}
