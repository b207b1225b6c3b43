//! A primary that is created anew, and the objects of its former incarnation.

use integration_tests::prelude::*;
use kube::api::PropagationPolicy;
use operator_core::testing::faults::{LineFault, Match};
use tokio::sync::Notify;

use super::{marks, pass, saying, scene, under};

/// `kubectl delete --cascade=orphan`, and the same primary again.
#[operator_test]
async fn what_was_orphaned_is_taken_over_by_the_next_incarnation() -> Result<()> {
    let scene = Scene::new("marks-orphan").await?;
    let workflow = workflow_of_one(wanted_map("a"))?;
    let operator = scene.start(scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let before = maps.get("one-a").await?;
    the_collector_knows_all(&scene).await?;
    delete_and_orphan(&scene).await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    let again = scene.create("one", "second").await?;
    scene.until_values([("one-a", "second")]).await?;
    operator.settled().await?;
    let after = maps.get("one-a").await?;
    assert_eq!(after.metadata.uid, before.metadata.uid, "it is the same object");
    assert_eq!(marks(&after)[2], again.metadata.uid.unwrap_or_default());
    assert_eq!(after.metadata.owner_references.map(|owners| owners.len()), Some(1));
    Ok(())
}

/// The collector removes a child's owner before the operator has seen that the primary is being deleted. If the child
/// got it back, it would be collected with the primary.
#[operator_test]
async fn what_was_orphaned_gets_no_owner_back_though_the_deletion_is_seen_late() -> Result<()> {
    for finalizers in [json!(null), json!(["example.com/hold"])] {
        let scene = Scene::new("marks-orphan-late").await?;
        let workflow = workflow_of_one(wanted_map("a"))?;
        let lags = Rule::watch("testresources").nth(4).event(LineFault::Delay(Duration::from_secs(5)));
        let faults = Faults::new([lags]);
        let operator = under(&faults, &scene, scene.managed(&saying(), &workflow)).await?;
        scene.create("one", "first").await?;
        scene.until_values([("one-a", "first")]).await?;
        let patch = json!({ "metadata": { "finalizers": finalizers, "labels": { "is": "seen" } } });
        scene.patch("one", patch).await?;
        let before = scene.api::<ConfigMap>().get("one-a").await?;
        the_collector_knows_all(&scene).await?;
        operator.settled().await?;
        delete_and_orphan(&scene).await?;
        let written = accepted(&operator.settled().await?);
        assert_eq!(faults.unfired(), Vec::<String>::new());
        assert!(written.iter().all(|write| !write.contains("configmaps")), "{written:?}");
        if finalizers.is_array() {
            scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
        }
        scene.until_gone("one").await?;
        operator.settled().await?;
        let after = scene.api::<ConfigMap>().get("one-a").await?;
        assert_eq!(after.metadata.uid, before.metadata.uid, "it is the same object");
        assert_eq!(after.metadata.owner_references, None);
    }
    Ok(())
}

/// Holds a write of a child: reports when it arrives, and lets it continue on request.
fn held(write: Match) -> (Rule, Arc<Notify>, Arc<Notify>) {
    let (on_its_way, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tells, waits) = (Arc::clone(&on_its_way), Arc::clone(&goes_on));
    let rule = write.resource("configmaps").meanwhile(move |_| {
        let waits = Arc::clone(&waits);
        tells.notify_one();
        async move { waits.notified().await }
    });
    (rule, on_its_way, goes_on)
}

/// The same while the write of the child is in progress, which therefore meets a conflict.
#[operator_test]
async fn what_is_orphaned_while_it_is_written_gets_no_owner_back() -> Result<()> {
    for (use_ssa, write) in [(true, Rule::on(Verb::Apply).nth(2)), (false, Rule::on(Verb::Update).nth(1))] {
        let scene = Scene::new("marks-orphan-conflict").await?;
        let workflow = workflow_of_one(wanted_map("a").use_ssa(use_ssa))?;
        let (held, on_its_way, orphaned) = held(write);
        let operator = under(&Faults::new([held]), &scene, scene.managed(&saying(), &workflow)).await?;
        scene.create("one", "first").await?;
        scene.until_values([("one-a", "first")]).await?;
        operator.settled().await?;
        the_collector_knows_all(&scene).await?;
        scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
        on_its_way.notified().await;
        delete_and_orphan(&scene).await?;
        orphaned.notify_one();
        let written = accepted(&operator.settled().await?);
        assert!(written.iter().all(|write| !write.contains("configmaps")), "{written:?}");
        assert_eq!(scene.values().await?, [("one-a".to_owned(), "first".to_owned())].into());
    }
    Ok(())
}

/// The same if the run's conflict comes after its cache has seen the deletion, and the primary still exists: what another
/// finalizer holds. The run has begun as one of a primary that stays.
#[operator_test]
async fn what_was_orphaned_gets_no_owner_back_if_the_deletion_is_seen_during_the_run() -> Result<()> {
    for (use_ssa, write) in [(true, Rule::on(Verb::Apply).nth(3)), (false, Rule::on(Verb::Update).nth(1))] {
        let scene = Scene::new("marks-orphan-seen").await?;
        let workflow = workflow_of_one(wanted_map("a").use_ssa(use_ssa))?;
        let (held, on_its_way, seen) = held(write);
        let operator = under(&Faults::new([held]), &scene, scene.managed(&saying(), &workflow)).await?;
        scene.create("one", "first").await?;
        scene.create("two", "first").await?;
        scene.until_values([("one-a", "first"), ("two-a", "first")]).await?;
        scene.patch("one", json!({ "metadata": { "finalizers": ["example.com/hold"] } })).await?;
        operator.settled().await?;
        the_collector_knows_all(&scene).await?;
        scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
        on_its_way.notified().await;
        delete_and_orphan(&scene).await?;
        // A change that is seen after the deletion, since both are of one watch.
        scene.patch("two", json!({ "spec": { "value": "second" } })).await?;
        scene.until_values([("one-a", "first"), ("two-a", "second")]).await?;
        seen.notify_one();
        let written = accepted(&operator.settled().await?);
        assert!(written.iter().all(|write| !write.contains("one-a")), "{written:?}");
        let child = scene.api::<ConfigMap>().get("one-a").await?;
        assert_eq!(child.metadata.owner_references, None);
        scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
        scene.until_gone("one").await?;
    }
    Ok(())
}

/// `kubectl delete --cascade=orphan`, until the collector has done its part.
async fn delete_and_orphan(scene: &Scene) -> Result<()> {
    let orphan =
        DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
    scene.resources.delete("one", &orphan).await?;
    let is_let_go = |one: &TestResource| !one.finalizers().iter().any(|finalizer| finalizer == "orphan");
    eventually("the collector to let go", async || {
        Ok(scene.resources.get_opt("one").await?.is_none_or(|one| is_let_go(&one)).then_some(()))
    })
    .await
}

/// The collector orphans only the children that it knows, and takes the others with their owner: one that is busy learns of them late.
/// It learns of the objects of one kind in order, so when it has taken one that is made now it knows those before.
async fn the_collector_knows_all(scene: &Scene) -> Result<()> {
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "nobody" });
    let metadata = json!({ "name": "taken-at-once", "ownerReferences": [owner] });
    let map: ConfigMap = serde_json::from_value(json!({ "metadata": metadata }))?;
    let maps = scene.api::<ConfigMap>();
    maps.create(&PostParams::default(), &map).await?;
    eventually("the collector to take what has no owner", async || {
        Ok(maps.get_opt("taken-at-once").await?.is_none().then_some(()))
    })
    .await
}

/// A backup brings back what it has saved, with the labels and owner references of that time; the primary gets a new uid.
#[operator_test]
async fn what_a_backup_brings_back_is_waited_for_or_taken_over() -> Result<()> {
    let nodes = [wanted_map("a"), wanted_map("a").without_owner()];
    for (name, node) in ["marks-backup-owned", "marks-backup-unowned"].into_iter().zip(nodes) {
        let scene = Scene::new(name).await?;
        scene.failures.allow("is about to be garbage-collected");
        let workflow = workflow_of_one(node)?;
        let controller = || scene.managed(&saying(), &workflow);
        let operator = scene.start(controller()).await?;
        scene.create("one", "first").await?;
        scene.until_values([("one-a", "first")]).await?;
        operator.settled().await?;
        let mut saved = scene.api::<ConfigMap>().get("one-a").await?;
        scene.delete("one").await?;
        scene.until_gone("one").await?;
        scene.until_values([]).await?;
        operator.stop().await;

        saved.metadata.uid = None;
        saved.metadata.resource_version = None;
        saved.metadata.managed_fields = None;
        scene.create("one", "second").await?;
        scene.api::<ConfigMap>().create(&PostParams::default(), &saved).await?;
        let operator = scene.start(controller()).await?;
        scene.until_values([("one-a", "second")]).await?;
        operator.settled().await?;
        let one = scene.resources.get("one").await?;
        let map = scene.api::<ConfigMap>().get("one-a").await?;
        assert_eq!(marks(&map)[2], one.metadata.uid.unwrap_or_default());
    }
    Ok(())
}

/// Nothing is written to an object that the collector is about to delete.
#[tokio::test(start_paused = true)]
async fn what_is_about_to_be_collected_is_not_written() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("is about to be garbage-collected; it is created again after that");
    let workflow = workflow_of_one(wanted_map("a"))?;
    let one = scene.create("one", "first").await?;
    let map = integration_tests::map_of(&one, "a", "before");
    let maps = scene.api::<ConfigMap>();
    maps.create(&PostParams::default(), &map).await?;
    let owner = json!([{ "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource", "name": "one",
        "uid": "uid-before", "controller": true }]);
    let patch =
        Patch::Merge(json!({ "metadata": { "ownerReferences": owner, "finalizers": ["example.com/hold"] } }));
    maps.patch("one-a", &PatchParams::default(), &patch).await?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    pass(60).await;
    let written = accepted(&operator.settled().await?);
    assert!(written.iter().all(|write| !write.contains("configmaps")), "{written:?}");
    // When it is gone, it is made again.
    maps.delete("one-a", &DeleteParams::default()).await.ok();
    let released = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    maps.patch("one-a", &PatchParams::default(), &released).await.ok();
    pass(400).await;
    assert_eq!(scene.values().await?, [("one-a".to_owned(), "first".to_owned())].into());
    Ok(())
}
