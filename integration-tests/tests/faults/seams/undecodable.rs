//! Primaries that can't be decoded any more: someone has written, in a newer version of the definition, fields that
//! this operator's types don't know.

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject};
use operator_core::environment::Environment;
use tracing::Level;

use super::{message, pass};

/// The definition of a version ago, when a value could be anything.
fn anything_goes() -> Result<CustomResourceDefinition> {
    let mut definition = serde_json::to_value(TestResource::crd())?;
    let spec = definition.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    *spec.expect("the definition has a schema") =
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    Ok(serde_json::from_value(definition)?)
}

/// Gives a primary's spec a value that this operator's types don't know.
async fn spoil(scene: &Scene, name: &str) -> Result<()> {
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    let wrong = Patch::Merge(json!({ "spec": { "value": { "password": "hunter2" } } }));
    untyped.patch(name, &PatchParams::default(), &wrong).await?;
    Ok(())
}

async fn mark(scene: &Scene, name: &str) -> Result<()> {
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    untyped.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

async fn exists(scene: &Scene, name: &str) -> Result<bool> {
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    Ok(untyped.get_opt(name).await?.is_some())
}

/// Values, in the order in which they came.
type Values = Arc<Mutex<Vec<String>>>;

/// A controller of a reconciler like [`keeping`], and an operator with it that counts.
async fn web(scene: &Scene, script: &Script) -> Result<(TestOperator, Numbers)> {
    let controller =
        script.controller().name("web").owns::<ConfigMap>().cleaner(true).namespaces([&scene.namespace]);
    let counted = Numbers::default();
    let metrics = counted.recorder();
    let builder = scene.operator().environment(|| Environment::real().with_seed(1)).metrics(metrics);
    Ok((TestOperator::start(builder.register(controller)).await?, counted))
}

/// How many primaries can't be decoded, by the metric; and the reports about them.
async fn told(operator: &TestOperator, counted: &Numbers) -> (f64, Vec<String>) {
    let labels = [("controller_name", "web"), ("event", "primary")];
    let objects = operator.operator().undecodable_objects().await;
    let lines = objects.iter().map(|object| format!("{}: {}", object.object.name(), object.reason));
    (counted.value("undecodable_objects", &labels), lines.collect())
}

/// Keeps a config map for each primary, and notes with which value it is cleaned up.
fn keeping(cleaned: &Values) -> Script {
    let cleaned = Arc::clone(cleaned);
    Script::new(|_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, &primary.spec.value);
            context.resource_operations().server_side_apply(&map).await?;
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
    .cleanup(move |_, primary: Arc<TestResource>, _| {
        cleaned.lock().push(primary.spec.value.clone());
        Box::pin(async { Ok(Removal::Done) })
    })
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_cannot_be_decoded_any_more_is_not_reconciled_and_is_cleaned_up() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::<TestResource>::on(TestCluster::in_process(), "seams").await?;
    scene.cluster.install_crds([anything_goes()?]).await?;
    let cleaned: Values = Arc::default();
    let script = keeping(&cleaned);
    let (operator, counted) = web(&scene, &script).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let runs = script.runs.count();

    spoil(&scene, "one").await?;
    operator.settled().await?;
    let expected = (1.0, vec!["one: spec.value: invalid type, expected a string".to_owned()]);
    assert_eq!(told(&operator, &counted).await, expected);
    assert!(operator.unhealthy_sources().await.is_empty(), "others can be worked for");
    // Its state is not enforced any more.
    let edit = Patch::Merge(json!({ "data": { "value": "by hand" } }));
    scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &edit).await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), runs, "an old spec is enforced");
    scene.api::<ConfigMap>().delete("one", &DeleteParams::default()).await?;
    let settled = operator.settled().await?;
    assert_eq!(script.runs.count(), runs, "an old spec is enforced");
    assert_eq!(settled.written(), [""; 0]);
    assert!(scene.api::<ConfigMap>().get_opt("one").await?.is_none(), "it was made anew from an old spec");

    // Repaired, it is reconciled without any other event.
    scene.set("one", "second").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("second"));
    assert_eq!(told(&operator, &counted).await, (0.0, vec![]));

    // Spoiled again and deleted, it is cleaned up with the last spec that could be decoded.
    let runs = script.runs.count();
    spoil(&scene, "one").await?;
    mark(&scene, "one").await?;
    pass(60).await;
    assert_eq!((&cleaned.lock()[..], script.runs.count()), (&["second".to_owned()][..], runs));
    assert!(!exists(&scene, "one").await?, "it hangs in its deletion");
    assert_eq!(told(&operator, &counted).await, (0.0, vec![]));
    let warned = log.lines(Level::WARN);
    let warned = warned.iter().filter(|line| line.field("message").contains("can't be decoded"));
    assert!(warned.count() > 0, "it is said in the log, too");
    for level in [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG] {
        let lines = log.lines(level);
        assert!(!format!("{lines:?}").contains("hunter2"), "a value is in the log");
    }
    operator.settled().await?;
    assert_eq!(operator.operator().footprint().await.leftovers, []);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_of_which_no_state_is_known_stays_until_it_is_repaired() -> Result<()> {
    let scene = Scene::<TestResource>::on(TestCluster::in_process(), "seams").await?;
    scene.cluster.install_crds([anything_goes()?]).await?;
    let cleaned: Values = Arc::default();
    let script = keeping(&cleaned);
    let (operator, _) = web(&scene, &script).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    operator.stop().await;
    let runs = script.runs.count();

    spoil(&scene, "one").await?;
    mark(&scene, "one").await?;
    let (operator, counted) = web(&scene, &script).await?;
    pass(600).await;
    let (count, lines) = told(&operator, &counted).await;
    assert!(count == 1.0 && lines[0].contains("it is marked for deletion, and stays"), "{lines:?}");
    assert!(exists(&scene, "one").await? && cleaned.lock().is_empty(), "nobody knows what to clean up");
    assert_eq!(operator.settled().await?.written(), [""; 0]);

    scene.set("one", "repaired").await?;
    pass(60).await;
    assert_eq!((&cleaned.lock()[..], script.runs.count()), (&["repaired".to_owned()][..], runs));
    assert!(!exists(&scene, "one").await?, "it hangs in its deletion");
    operator.stop().await;
    Ok(())
}
