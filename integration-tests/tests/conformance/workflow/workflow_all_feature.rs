//! A config map waits for a Deployment to be ready, is absent while its precondition is not met, and keeps the primary
//! until someone marks it; the conditions' answers can be read.

use integration_tests::prelude::*;
use operator_core::{Verdict, status::kstatus::Kstatus, workflow::ConditionKind};

fn web(primary: &TestResource) -> Result<Deployment, BoxError> {
    let name = primary.name_any();
    Ok(integration_tests::from_json(&json!({
        "metadata": { "name": name, "namespace": primary.namespace() },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "web", "image": "example.com/web" }] },
            },
        },
    }))?)
}

/// Met when the map is marked, or gone.
fn is_marked(map: &ConfigMap) -> Verdict {
    Verdict::when(map.annotations().contains_key("example.com/may-go"), "nobody has marked it")
}

struct World {
    scene: Scene,
    operator: TestOperator,
    outcomes: Outcomes,
    asked: Arc<AtomicBool>,
}

async fn start() -> Result<World> {
    let told = Held::watches_of("deployments");
    told.release();
    start_told(&told).await
}

/// Starts an operator that is told what becomes of Deployments when `told` says so.
async fn start_told(told: &Held) -> Result<World> {
    let scene = Scene::with_workloads("workflow-all-feature").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let asked = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&asked);
    let marked = move |map: &ConfigMap| {
        noted.store(true, Ordering::SeqCst);
        is_marked(map)
    };
    let map = Child("map").only_if(|primary| primary.spec.value == "with map");
    let map = map.without_owner().after(web).gone(marked);
    let workflow = Workflow::builder().nodes((web, map)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start_through(told.hook(), controller.namespaces([&scene.namespace])).await?;
    Ok(World { scene, operator, outcomes, asked })
}

#[operator_test]
async fn the_map_waits_for_the_deployment() -> Result<()> {
    let told = Held::watches_of("deployments");
    let World { scene, operator, outcomes, .. } = start_told(&told).await?;
    scene.create("one", "with map").await?;
    let first = eventually("a first result", async || Ok(outcomes.last("one"))).await?;
    assert!(!first.all_ready(), "{first}");
    let waits = [
        "web: created, not ready: 0/2 replicas created",
        "map: waiting for web to be ready: 0/2 replicas created",
    ];
    assert_eq!(first.to_string().lines().collect::<Vec<_>>(), waits);
    assert!(scene.api::<ConfigMap>().get_opt("one-map").await?.is_none(), "the Deployment isn't ready");
    told.release();
    scene.until_other::<ConfigMap>("the map", "one-map", |_| true).await?;
    operator.settled().await?;
    let deployment = scene.api::<Deployment>().get("one").await?;
    assert_eq!(deployment.status.and_then(|status| status.ready_replicas), Some(2));
    let result = outcomes.last("one").expect("there were runs");
    assert!(result.all_ready(), "{result}");
    let detail = node_of(&result, "web").conditions[&ConditionKind::Ready].detail::<Kstatus>();
    assert!(detail.is_some_and(Kstatus::is_current), "{detail:?}");
    Ok(())
}

#[operator_test]
async fn without_its_precondition_there_is_no_map() -> Result<()> {
    let World { scene, operator, outcomes, .. } = start().await?;
    scene.create("one", "without").await?;
    eventually("all nodes where they should be", async || {
        Ok(outcomes.last("one").filter(|result| result.all_ready()))
    })
    .await?;
    operator.settled().await?;
    assert!(scene.api::<ConfigMap>().get_opt("one-map").await?.is_none());

    scene.patch("one", json!({ "spec": { "value": "with map" } })).await?;
    scene.until_other::<ConfigMap>("the map", "one-map", |_| true).await?;
    scene.patch("one", json!({ "spec": { "value": "without again" } })).await?;
    eventually("the map's end", async || {
        Ok(scene.api::<ConfigMap>().get_opt("one-map").await?.is_none().then_some(()))
    })
    .await
}

#[operator_test]
async fn the_primary_stays_until_the_delete_condition_is_met() -> Result<()> {
    let World { scene, operator, asked, .. } = start().await?;
    scene.create("one", "with map").await?;
    let maps = scene.api::<ConfigMap>();
    scene.until_other::<ConfigMap>("the map", "one-map", |_| true).await?;
    let finalizers = Patch::Merge(json!({ "metadata": { "finalizers": ["example.com/foreign"] } }));
    maps.patch("one-map", &PatchParams::default(), &finalizers).await?;
    operator.settled().await?;

    scene.delete("one").await?;
    eventually("the question", async || Ok(asked.load(Ordering::SeqCst).then_some(()))).await?;
    operator.settled().await?;
    assert_eq!(scene.resources.get("one").await?.finalizers().len(), 1, "it waits for the mark");

    let mark = json!({ "metadata": { "annotations": { "example.com/may-go": "yes" } } });
    maps.patch("one-map", &PatchParams::default(), &Patch::Merge(mark)).await?;
    scene.until_gone("one").await?;
    let release = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    maps.patch("one-map", &PatchParams::default(), &release).await?;
    Ok(())
}
