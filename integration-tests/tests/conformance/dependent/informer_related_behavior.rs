//! An operator that may not list everything that it should watch, from the start or later: it says so, goes on with what it
//! may do, and catches up as soon as it may do the rest.
//!
//! Told to, it stops at its start instead, and calls a handler.

use std::{fmt::Debug, sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{
    Relist, Scene, Script, TestObject, TestResource, eventually,
    rights::{managed_maps, primaries},
    until_refused, values_in, wanted_map, workflow_of_one,
};
use k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap};
use kube::{
    Api, Resource,
    api::{ListParams, PostParams},
};
use operator_core::{
    Error,
    observe::SourceHealth,
    testing::{TestOperator, operator_test},
};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn user(scene: &Scene) -> String {
    format!("{}-operator", scene.namespace)
}

/// Starts an operator as a user who may do only what was granted.
async fn start(scene: &Scene, namespaces: &[&str], relist: &Relist) -> Result<TestOperator> {
    let controller =
        scene.managed(&Script::idle(), &workflow_of_one(wanted_map("a"))?).namespaces(namespaces.to_vec());
    let config = scene.cluster.config_as(&user(scene), &[]);
    let operator = scene.operator().config(config).transport(relist.hook()).register(controller);
    Ok(TestOperator::start_unsynced(operator).await?)
}

/// Waits until one source alone doesn't work, because it may not list `plural` in `namespace`.
async fn is_forbidden(operator: &TestOperator, plural: &str, namespace: &str) -> Result<()> {
    eventually(&format!("the source of {plural}, and it alone, to be forbidden"), async || {
        let unhealthy = operator.unhealthy_sources().await;
        let [source] = &unhealthy[..] else { return Ok(None) };
        let SourceHealth::Unhealthy { reason, .. } = &source.health else { return Ok(None) };
        let words =
            [format!("cannot list resource \"{plural}\""), format!("in the namespace \"{namespace}\"")];
        Ok(words.iter().all(|words| reason.contains(words)).then_some(()))
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
    let operator = start(&scene, &[&scene.namespace], &Relist::of(plural)).await?;
    scene.create("one", "first").await?;
    is_forbidden(&operator, plural, &scene.namespace).await?;
    assert!(scene.values().await?.is_empty());
    scene.grant(missing.0, &user(&scene), &missing.1).await?;
    scene.until_values([("one-a", "first")]).await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}

#[operator_test]
async fn it_starts_without_the_rights_in_one_of_two_namespaces() -> Result<()> {
    let scene = Scene::new("informer-related-behavior").await?;
    let other = scene.cluster.namespace("informer-related-behavior-other").await?;
    let user = user(&scene);
    scene.grant("primaries", &user, &primaries()).await?;
    scene.grant("maps", &user, &managed_maps()).await?;
    scene.grant_in(&other, "maps", &user, &managed_maps()).await?;
    let operator = start(&scene, &[&scene.namespace, &other], &Relist::of("testresources")).await?;
    is_forbidden(&operator, "testresources", &other).await?;

    // The one namespace doesn't wait for the other.
    scene.create("one", "first").await?;
    Api::namespaced(scene.client.clone(), &other)
        .create(&PostParams::default(), &TestResource::named("two", "second"))
        .await?;
    scene.until_values([("one-a", "first")]).await?;
    scene.set("one", "third").await?;
    scene.until_values([("one-a", "third")]).await?;
    is_forbidden(&operator, "testresources", &other).await?;
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

async fn stops_without(plural: &str, source: &str, granted: (&str, Value)) -> Result<()> {
    let scene = Scene::new("informer-related-behavior").await?;
    scene.grant(granted.0, &user(&scene), &granted.1).await?;
    let stopped = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&stopped);
    let builder = scene
        .operator()
        .config(scene.cluster.config_as(&user(&scene), &[]))
        .register(scene.managed(&Script::idle(), &workflow_of_one(wanted_map("a"))?))
        .cache_sync_timeout(Duration::from_secs(3))
        .stop_on_source_error_at_start(true)
        .on_source_stopped(move |source| noted.lock().push(source.clone()));
    let operator = builder.build()?;
    let started = operator.start().await;
    assert!(matches!(started, Err(Error::NotSynced { .. })), "{started:?}");
    let stopped = stopped.lock().clone();
    assert_eq!(stopped.len(), 1, "{stopped:?}");
    assert_eq!((&*stopped[0].source, stopped[0].namespace.as_ref()), (source, Some(&scene.namespace)));
    assert!(stopped[0].error.contains(&format!("cannot list resource \"{plural}\"")), "{stopped:?}");
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

async fn survives_the_loss<K>(plural: &'static str, name: &str, rule: Value) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let scene = Scene::new("informer-related-behavior").await?;
    let (user, relist) = (user(&scene), Relist::of(plural));
    scene.grant("primaries", &user, &primaries()).await?;
    scene.grant("maps", &user, &managed_maps()).await?;
    let operator = start(&scene, &[&scene.namespace], &relist).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    relist.watching().await?;

    scene.revoke(name).await?;
    let probe = Api::<K>::namespaced(scene.cluster.client_as(&user)?, &scene.namespace);
    until_refused(403, async || probe.list(&ListParams::default()).await).await?;
    // The server ends no open watch for it.
    relist.cut();
    is_forbidden(&operator, plural, &scene.namespace).await?;
    scene.grant(name, &user, &rule).await?;
    scene.create("two", "second").await?;
    scene.until_values([("one-a", "first"), ("two-a", "second")]).await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}
