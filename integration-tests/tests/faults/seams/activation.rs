//! Nodes that take part only if the cluster has a capability.

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_core::{WatchScope, workflow::conditions::CrdPresent};

use super::{TestResource, pass, scene, under};

fn late(primary: &TestResource) -> LateTestResource {
    LateTestResource { metadata: meta_of(primary, "late"), ..LateTestResource::named("", primary.value()) }
}

async fn late_ones(scene: &Scene) -> Result<usize> {
    Ok(scene.api::<LateTestResource>().list(&Default::default()).await?.items.len())
}

#[tokio::test(start_paused = true)]
async fn an_informer_stops_with_its_definition_also_behind_a_node_that_is_not_ready() -> Result<()> {
    let scene = scene().await?;
    let is_ready = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&is_ready);
    let above = Child("above").node().ready(move |_: &TestResource| asked.load(Ordering::SeqCst));
    let late = wanted("late", late).needs(CrdPresent::<LateTestResource>::new()).after(&above);
    let workflow = Workflow::builder().nodes((above, late)).build()?;
    scene.cluster.install_crds([LateTestResource::crd()]).await?;
    let operator = under(&Faults::none(), &scene, scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(late_ones(&scene).await?, 1);

    is_ready.store(false, Ordering::SeqCst);
    scene.set("one", "second").await?;
    pass(60).await;
    let definitions = Api::<CustomResourceDefinition>::all(scene.client.clone());
    definitions.delete(LateTestResource::crd_name(), &DeleteParams::default()).await?;
    pass(300).await;
    let unhealthy = operator.unhealthy_sources().await;
    assert!(unhealthy.is_empty(), "nobody can need it, and it is still asked for: {unhealthy:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_capability_of_the_users_own_wakes_when_it_comes_and_goes() -> Result<()> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let (able, inactive) = (Switch::off(), "app: inactive: its condition is not met");
    let app = Child("app").node().needs(able.clone());
    let workflow = Workflow::builder().nodes((app,)).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    for name in ["one", "two"] {
        scene.create(name, name).await?;
    }
    pass(60).await;
    operator.settled().await?;
    assert_eq!((outcomes.lines("one"), script.runs.count()), (vec![inactive.to_owned()], 2), "one run each");

    able.turn(true);
    pass(60).await;
    assert_eq!(scene.values().await?.len(), 2, "nothing else has happened");
    able.turn(false);
    pass(60).await;
    assert_eq!(outcomes.lines("two"), [inactive]);
    assert_eq!(scene.values().await?.len(), 2, "what is inactive is not deleted");
    let runs = script.runs.count();
    able.turn(false);
    pass(60).await;
    assert_eq!(script.runs.count(), runs, "no change, no run");
    Ok(())
}

/// The namespaces of the controller change while nothing needs the source yet, and once more while it runs: each time it shows what is in
/// the namespaces of that time.
#[tokio::test(start_paused = true)]
async fn namespaces_that_change_before_a_source_has_started_are_its_own() -> Result<()> {
    let first = scene().await?;
    let second: Scene = Scene::on(first.cluster.clone(), "second").await?;
    let late = wanted("late", late).needs(CrdPresent::<LateTestResource>::new());
    let workflow = Workflow::builder().nodes((late,)).build()?;
    let controller = first.managed(&Script::idle(), &workflow).name("keeper");
    let operator = under(&Faults::none(), &first, controller).await?;
    first.create("one", "first").await?;
    second.create("two", "first").await?;
    pass(60).await;
    let change = async |scene: &Scene| {
        operator.operator().change_namespaces("keeper", WatchScope::from([scene.namespace.clone()])).await
    };
    change(&second).await?;
    pass(60).await;
    first.cluster.install_crds([LateTestResource::crd()]).await?;
    pass(60).await;
    assert_eq!((late_ones(&first).await?, late_ones(&second).await?), (0, 1));
    // What somebody deletes there comes back, so it is watched; and not in the namespace that was left.
    let delete = async |scene: &Scene| {
        let all = scene.api::<LateTestResource>();
        all.delete_collection(&DeleteParams::default(), &ListParams::default()).await
    };
    delete(&second).await?;
    pass(60).await;
    assert_eq!((late_ones(&first).await?, late_ones(&second).await?), (0, 1));
    change(&first).await?;
    pass(60).await;
    delete(&second).await?;
    delete(&first).await?;
    pass(60).await;
    assert_eq!((late_ones(&first).await?, late_ones(&second).await?), (1, 0));
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}
