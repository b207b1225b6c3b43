//! The cost of a run, by the API server's audit log: a first run makes one write for each child, one for the finalizer and
//! one for the status, and reads nothing; a run that changes nothing makes no call at all, not even after a restart.

use integration_tests::prelude::*;
use k8s_openapi::{
    ByteString,
    api::core::v1::{ServicePort, ServiceSpec},
};
use operator_core::observe::{Cause, SourceIndex};

/// Keeps a config map, a secret and a service, and says so in the status.
fn script() -> Script {
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            let secret = Secret {
                metadata: map.metadata.clone(),
                data: Some([("value".to_owned(), ByteString(b"secret".to_vec()))].into()),
                ..Secret::default()
            };
            let port = ServicePort { port: 80, ..ServicePort::default() };
            let service = Service {
                metadata: map.metadata.clone(),
                spec: Some(ServiceSpec { ports: Some(vec![port]), ..ServiceSpec::default() }),
                ..Service::default()
            };
            let operations = context.resource_operations();
            operations.server_side_apply(&map).await?;
            operations.server_side_apply(&secret).await?;
            operations.server_side_apply(&service).await?;
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
}

/// Starts an operator for the script, and shows that nothing but lists and watches went before its first run.
async fn start(scene: &Scene, script: &Script) -> Result<(TestOperator, Audit)> {
    let (operator, mut audit) = scene.audited().await?;
    let controller = script
        .controller()
        .name("api-calls")
        .cleaner(true)
        .owns::<ConfigMap>()
        .owns::<Secret>()
        .owns::<Service>()
        .namespaces([&scene.namespace]);
    let operator = TestOperator::start(operator.register(controller)).await?;
    let watched = ["configmaps", "secrets", "services", "testresources"];
    let lists_and_watches = expected(&["list", "watch"].map(|verb| watched.map(|of| (verb, of))).concat());
    // The caches are synced after the lists, and open their watches then.
    let all = |calls: &Calls| calls.counts().keys().eq(lists_and_watches.keys());
    let calls = audit.calls_until("the watches of all sources", all).await?;
    assert_eq!(calls.counts(), lists_and_watches);
    assert!(calls.events().iter().all(|call| call.namespace == scene.namespace), "{calls:#?}");
    Ok((operator, audit))
}

/// One call of each of these.
fn expected(calls: &[(&str, &str)]) -> BTreeMap<String, usize> {
    calls.iter().map(|(verb, resource)| (format!("{verb} {resource}"), 1)).collect()
}

/// The barrier's own lists are the only calls that `settled()` adds.
async fn nothing_follows(operator: &TestOperator, audit: &mut Audit) -> Result<()> {
    operator.settled().await?;
    let calls = audit.calls().await?;
    assert!(calls.counts().keys().all(|call| call.starts_with("list ")), "{calls:#?}");
    assert!(calls.about_objects().counts().is_empty(), "{calls:#?}");
    Ok(())
}

#[operator_test]
async fn a_first_run_writes_each_object_once_and_reads_none() -> Result<()> {
    let scene = Scene::new("api-calls").await?;
    let script = script();
    let (operator, mut audit) = start(&scene, &script).await?;

    scene.create("one", "first").await?;
    scene.until("the status", "one", |one| one.status == Some(said("first"))).await?;
    // A watch may show the status before the answer to its write is in the log.
    let writes = ["configmaps", "secrets", "services", "testresources", "testresources/status"];
    let calls = audit.calls_until("the first run", |calls| calls.counts().len() == writes.len()).await?;
    assert_eq!(calls.counts(), expected(&writes.map(|of| ("patch", of))), "{calls:#?}");
    assert!(calls.events().iter().all(|call| call.namespace == scene.namespace && call.name == "one"));
    nothing_follows(&operator, &mut audit).await?;
    assert_eq!(script.runs.count(), 1, "own writes cause no run");
    Ok(())
}

#[operator_test]
async fn a_run_that_changes_nothing_makes_no_call() -> Result<()> {
    let scene = Scene::new("api-calls").await?;
    let script = script();
    let (operator, mut audit) = start(&scene, &script).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    audit.calls().await?;

    let label = Patch::Merge(json!({ "metadata": { "labels": { "somebody": "else" } } }));
    let parameters = PatchParams::default();
    scene.api::<ConfigMap>().patch("one", &parameters, &label).await?;
    scene.api::<Secret>().patch("one", &parameters, &label).await?;
    scene.api::<Service>().patch("one", &parameters, &label).await?;
    let every_source_caused_a_run = || {
        let runs = script.runs.of("one");
        let ended = runs.iter().all(|run| run.ended);
        let caused = |index| runs.iter().any(|run| run.causes.contains(Cause::Source(SourceIndex(index))));
        ended && [0, 1, 2].into_iter().all(caused)
    };
    eventually("runs", async || Ok(every_source_caused_a_run().then_some(()))).await?;
    assert_eq!(audit.calls().await?.counts(), expected(&[]));
    nothing_follows(&operator, &mut audit).await
}

/// What was compared with one desired state and outlives the labels of others says nothing once another one was applied.
#[operator_test]
async fn what_is_desired_again_is_applied_again() -> Result<()> {
    let scene = Scene::new("api-calls").await?;
    let script = script();
    let (operator, _) = start(&scene, &script).await?;
    scene.create("one", "first").await?;
    for (round, value) in ["first", "second", "first", "second", "first"].into_iter().enumerate() {
        scene.patch("one", json!({ "spec": { "value": value } })).await?;
        let has_value = |map: &ConfigMap| value_of(map) == Some(value);
        scene.until_other("the value", "one", has_value).await?;
        if value == "first" {
            let label = Patch::Merge(json!({ "metadata": { "labels": { "round": round.to_string() } } }));
            scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &label).await?;
        }
        operator.settled().await?;
    }
    Ok(())
}

#[operator_test]
async fn after_a_restart_a_run_that_changes_nothing_makes_no_call() -> Result<()> {
    let scene = Scene::new("api-calls").await?;
    let before = script();
    let (operator, _) = start(&scene, &before).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    operator.stop().await;

    let after = script();
    let (operator, mut audit) = start(&scene, &after).await?;
    eventually("a run", async || Ok((after.runs.count() == 1 && after.runs.under_way() == 0).then_some(())))
        .await?;
    assert_eq!(audit.calls().await?.counts(), expected(&[]));
    nothing_follows(&operator, &mut audit).await?;
    assert_eq!((before.runs.count(), after.runs.count()), (1, 1));
    Ok(())
}

#[operator_test]
async fn a_read_of_the_reconcilers_own_is_seen() -> Result<()> {
    let scene = Scene::new("api-calls").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let namespace = primary.namespace().unwrap_or_default();
            Api::<ConfigMap>::namespaced(context.client().clone(), &namespace).get_opt("one").await?;
            Ok(UpdateControl::no_update())
        })
    });
    let (operator, mut audit) = scene.audited().await?;
    let controller = scene.controller(&script);
    let operator = TestOperator::start(operator.register(controller)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(audit.calls().await?.about_objects().counts(), expected(&[("get", "configmaps")]));
    Ok(())
}
