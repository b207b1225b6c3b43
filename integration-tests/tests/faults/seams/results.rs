//! The statements of a workflow's results about its nodes.

use integration_tests::prelude::*;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use operator_core::{
    Context, Run,
    client::TransportHook,
    resource::KubeObject,
    testing::ClusterController,
    workflow::{NodeStatus, Operation},
};

use super::{TestResource, pass, scene, under};

/// How many maps of the app exist after each of these statuses of its dependency.
async fn behind<K>(name: &'static str, spec: Value, statuses: &[Value]) -> Result<Vec<usize>>
where
    K: KubeObject + Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    let scene = scene().await?;
    // What becomes of the objects is in `statuses`.
    for controller in [ClusterController::Jobs, ClusterController::Scheduler] {
        scene.cluster.in_process_server()?.hold(controller);
    }
    let desired = move |primary: &TestResource| {
        let object = json!({ "metadata": meta_of(primary, name), "spec": spec });
        serde_json::from_value::<K>(object).expect("an object with a spec")
    };
    let first = wanted(name, desired);
    let workflow = Workflow::builder().nodes((Child("app").node().after(&first), first)).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    let mut maps = vec![scene.values().await?.len()];
    for status in statuses {
        let patch = Patch::Merge(json!({ "status": status }));
        let objects = scene.api::<K>();
        objects.patch_status(&format!("one-{name}"), &PatchParams::default(), &patch).await?;
        pass(60).await;
        maps.push(scene.values().await?.len());
    }
    Ok(maps)
}

fn conditions(of: &[&str]) -> Value {
    let at = "2026-01-01T00:01:00Z";
    of.iter().map(|of| json!({ "type": of, "status": "True", "lastTransitionTime": at })).collect()
}

fn job(suspend: bool) -> Value {
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [{ "name": "run", "image": "migrate" }] } });
    json!({ "suspend": suspend, "template": template })
}

#[tokio::test(start_paused = true)]
async fn ready_over_a_job_is_met_when_it_has_succeeded_not_when_it_has_started() -> Result<()> {
    let running = json!({ "startTime": "2026-01-01T00:00:00Z", "active": 1 });
    let done = json!({
        "active": 0, "succeeded": 1, "completionTime": "2026-01-01T00:01:00Z",
        "conditions": conditions(&["SuccessCriteriaMet", "Complete"]),
    });
    let maps = behind::<Job>("migration", job(false), &[running, done]).await?;
    assert_eq!(maps, [0, 0, 1], "maps of the app: before the migration, while it runs, after it");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_suspended_or_has_failed_is_not_ready() -> Result<()> {
    let suspended = json!({ "conditions": conditions(&["Suspended"]) });
    assert_eq!(behind::<Job>("migration", job(true), &[suspended]).await?, [0, 0], "a suspended job");
    let failed = json!({
        "startTime": "2026-01-01T00:00:00Z", "failed": 1, "conditions": conditions(&["FailureTarget", "Failed"]),
    });
    assert_eq!(behind::<Job>("migration", job(false), &[failed]).await?, [0, 0], "a failed job");
    let pod = json!({ "containers": [{ "name": "run", "image": "migrate" }] });
    let ends = [json!({ "phase": "Failed" }), json!({ "phase": "Succeeded" })];
    let maps = behind::<Pod>("check", pod, &ends).await?;
    assert_eq!(maps, [0, 0, 1], "a pod that has failed, and one that has succeeded");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn ready_over_a_bulk_that_wants_nothing_is_met() -> Result<()> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let bulk = node(counted_maps).named("bulk");
    let app = Child("app").node().after(&bulk);
    let workflow = Workflow::builder().nodes((bulk, app)).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "0 x").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["bulk: matched", "app: created"]);
    assert_eq!(script.runs.count(), 1, "in the first run");
    scene.set("one", "2 y").await?;
    pass(60).await;
    assert_eq!(scene.values().await?.len(), 3);
    scene.set("one", "0 z").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(scene.values().await?.into_iter().collect::<Vec<_>>(), [("one-app".into(), "0 z".into())]);
    Ok(())
}

/// What the app's map holds, as the run sees it.
fn held(context: &Context<TestResource>) -> Option<String> {
    context.secondary::<ConfigMap>().ok().flatten().as_deref().and_then(value_of).map(str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn an_explicit_run_is_about_the_primary_that_was_checked() -> Result<()> {
    let scene = scene().await?;
    let applied = Arc::new(Mutex::new(Vec::new()));
    let (noted, of) = (Arc::clone(&applied), scene.clone());
    let script = Script::new(move |number, primary: Arc<TestResource>, context| {
        let (noted, scene) = (Arc::clone(&noted), of.clone());
        Box::pin(async move {
            if number == 1 {
                // The primary was checked, and is changed before the workflow is invoked.
                scene.set("one", "unchecked").await?;
                pass(1).await;
                let newest = context.primary().map(|newest| newest.spec.value.clone());
                anyhow::ensure!(newest.as_deref() == Some("unchecked"), "the cache has {newest:?}");
            }
            context.run().await?;
            noted.lock().push((primary.spec.value.clone(), held(context)));
            Ok(UpdateControl::no_update())
        })
    });
    let workflow = Workflow::builder().nodes((Child("app").node(),)).explicit_invocation().build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "checked").await?;
    pass(60).await;
    operator.settled().await?;
    let both = |value: &str| (value.to_owned(), Some(value.to_owned()));
    assert_eq!(
        *applied.lock(),
        [both("checked"), both("unchecked")],
        "what was checked, and what was applied"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_second_call_in_one_run_is_about_its_own_primary() -> Result<()> {
    let scene = scene().await?;
    let workflow = Workflow::builder().nodes((Child("app").node(),)).build()?;
    let applied = Arc::new(Mutex::new(Vec::new()));
    let (noted, standalone) = (Arc::clone(&applied), workflow.clone());
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let (noted, workflow) = (Arc::clone(&noted), standalone.clone());
        Box::pin(async move {
            let mut other = TestResource::clone(&primary);
            other.spec.value = "other".to_owned();
            for primary in [&*primary, &other, &*primary] {
                workflow.reconcile(primary, context).await.check()?;
                noted.lock().extend(held(context));
            }
            Ok(UpdateControl::no_update())
        })
    });
    let controller = scene.controller(&script).event_sources_of(&workflow);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "own").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(*applied.lock(), ["own", "other", "own"]);
    Ok(())
}

fn app(primary: &TestResource) -> ConfigMap {
    map_of(primary, "app", &primary.spec.value)
}

/// The result of such a run is also about the workflow of one's own.
#[tokio::test(start_paused = true)]
async fn a_workflow_of_ones_own_takes_what_was_changed_in_memory() -> Result<()> {
    let scene = scene().await?;
    let workflow = Workflow::builder().nodes((app,)).build()?;
    let standalone = workflow.clone();
    let applied = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&applied);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let (noted, workflow) = (Arc::clone(&noted), standalone.clone());
        Box::pin(async move {
            let mut changed = TestResource::clone(&primary);
            changed.spec.value = "changed".to_owned();
            for primary in [&changed, &*primary] {
                let run = workflow.reconcile(primary, context).await;
                anyhow::ensure!(run.check().is_ok() && run.all_ready(), "{run}");
                let made = run.get(app);
                noted.lock().extend(made.as_deref().and_then(value_of).map(str::to_owned));
            }
            Ok(UpdateControl::no_update())
        })
    });
    let controller = scene.controller(&script).event_sources_of(&workflow);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "own").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(*applied.lock(), ["changed", "own"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn each_object_of_a_bulk_needs_a_permit_of_its_own() -> Result<()> {
    let scene = scene().await?;
    let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (Arc::clone(&under_way), Arc::clone(&most));
    let slow = TransportHook::around(move |request, inner| {
        let is_write =
            *request.method() == http::Method::PATCH && request.uri().path().contains("configmaps");
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            if is_write {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                pass(1).await;
                now.fetch_sub(1, Ordering::SeqCst);
            }
            inner.send(request).await
        }
    });
    let workflow = Workflow::builder().nodes((node(counted_maps).named("bulk"),)).build()?;
    let builder = scene.operator().transport(slow).max_concurrent_dependents(3);
    let controller = scene.managed(&Script::idle(), &workflow);
    let operator = operator_core::testing::TestOperator::start(builder.register(controller)).await?;
    scene.create("one", "20 x").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(scene.values().await?.len(), 20);
    assert_eq!(most.load(Ordering::SeqCst), 3, "requests at the same time");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn slow_dependents_of_one_controller_hold_up_no_other() -> Result<()> {
    let scene = scene().await?;
    let slow = Workflow::builder().nodes((Child("slow").node(),));
    let quick = Workflow::builder().nodes((Child("first").node(),));
    let unanswered = TransportHook::around(|request, inner| {
        let is_slow = *request.method() == http::Method::PATCH && request.uri().path().ends_with("-slow");
        async move { if is_slow { std::future::pending().await } else { inner.send(request).await } }
    });
    let builder = scene.operator().transport(unanswered).max_concurrent_dependents(1);
    let builder = builder.register(scene.managed(&Script::idle(), &slow.build()?).name("slow"));
    let builder = builder.register(scene.managed(&Script::idle(), &quick.build()?).name("quick"));
    let operator = operator_core::testing::TestOperator::start(builder).await?;
    for name in ["one", "two"] {
        scene.create(name, "value").await?;
    }
    // Less than the deadline of a request, which gives the permit back.
    pass(20).await;
    assert_eq!(scene.values().await?.len(), 2, "what the quick one has made");
    operator.stop().await;
    Ok(())
}

/// What a status could report about the nodes: by the run, and by their latest states.
type Told = Arc<Mutex<Vec<(Vec<String>, Vec<NodeStatus>, bool)>>>;

#[tokio::test(start_paused = true)]
async fn what_a_run_came_to_outlives_its_deadline() -> Result<()> {
    let scene = scene().await?;
    let told = Told::default();
    let noted = Arc::clone(&told);
    let script = Script::idle().on_error(move |_, run: &Run<TestResource>, _| {
        let lines = run.nodes().iter().map(|node| format!("{}: {}", node.name, node.state));
        let first = run.nodes()[0].reconciled.as_ref();
        let found = first.is_some_and(|first| first.resource::<ConfigMap>().is_some());
        noted.lock().push((lines.collect(), run.latest(), found));
    });
    let first = Child("first").node();
    let slow = Elsewhere::unanswered().named("slow").after(&first);
    let behind = Child("behind").node().after(&slow);
    let workflow = Workflow::builder().nodes((first, slow, behind)).build()?;
    let controller = scene.managed(&script, &workflow).reconcile_timeout(Duration::from_secs(30));
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "value").await?;
    pass(45).await;
    let told = told.lock().clone();
    operator.stop().await;
    let [(lines, latest, found)] = &told[..] else { panic!("told {} times", told.len()) };
    let expected =
        ["first: created", "slow: pending: dependent called 30 s ago", "behind: pending: not reached"];
    assert_eq!(lines, &expected, "what the result of the dropped run says");
    assert!(found, "what was written before is in the result");
    let latest: Vec<String> = latest.iter().map(|node| format!("{}: {}", node.name, node.state)).collect();
    assert_eq!(latest, expected, "what each node came to last");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_failed_item_hides_no_other() -> Result<()> {
    let scene = scene().await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let workflow = Workflow::builder()
        .nodes((node(counted_maps).named("bulk"),))
        .handle_errors_in_reconciler()
        .build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&script, &workflow)).await?;
    in_the_way(&scene, "1").await?;
    scene.create("one", "5 x").await?;
    pass(60).await;
    operator.settled().await?;
    let result = outcomes.last("one").expect("a run");
    let node = node_of(&result, "bulk");
    assert!(node.state.to_string().starts_with("failed: 1 of 5 items failed: "), "{}", node.state);
    let reconciled = node.reconciled.as_ref().expect("what became of the other items");
    let done: Vec<_> = reconciled.operations().iter().map(|(operation, _)| *operation).collect();
    assert_eq!(done, [Operation::Created; 4]);
    Ok(())
}

/// Someone else's map, named like the item of a primary `one`.
async fn in_the_way(scene: &Scene, item: &str) -> Result<()> {
    use integration_tests::TestObject;
    let map = map_of(&TestResource::named("one", ""), item, "somebody else's");
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    Ok(())
}
