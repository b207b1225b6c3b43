//! How the status is written, and when it isn't.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::ServiceStatus;
use operator_core::Run;

use super::status;

#[operator_test]
async fn a_run_that_changes_nothing_makes_no_call_not_even_after_a_restart() -> Result<()> {
    let scene = Scene::new("status-no-call").await?;
    let workflow = Workflow::builder().nodes((Child("app").node(),)).build()?;
    let started = async |script: &Script| -> Result<_> {
        let (operator, audit) = scene.audited().await?;
        let controller = scene.managed(script, &workflow).status(status);
        Ok((TestOperator::start(operator.register(controller)).await?, audit))
    };
    let before = Script::idle();
    let (operator, mut audit) = started(&before).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let first = scene.resources.get("one").await?;
    audit.calls().await?;
    let label = Patch::Merge(json!({ "metadata": { "labels": { "somebody": "else" } } }));
    scene.api::<ConfigMap>().patch("one-app", &PatchParams::default(), &label).await?;
    let runs = async |script: &Script, number: usize| {
        let are_over = || script.runs.count() == number && script.runs.under_way() == 0;
        eventually("the run", async || Ok(are_over().then_some(()))).await
    };
    runs(&before, 2).await?;
    operator.settled().await?;
    let calls = audit.calls().await?;
    assert!(calls.about_objects().counts().is_empty(), "{calls:#?}");
    operator.stop().await;

    let after = Script::idle();
    let (operator, mut audit) = started(&after).await?;
    runs(&after, 1).await?;
    operator.settled().await?;
    let calls = audit.calls().await?;
    assert!(calls.about_objects().counts().is_empty(), "{calls:#?}");
    let second = scene.resources.get("one").await?;
    assert_eq!(first.metadata.resource_version, second.metadata.resource_version);
    Ok(())
}

#[operator_test]
async fn none_leaves_the_status_alone() -> Result<()> {
    let scene = Scene::new("status-none").await?;
    let status =
        |one: &TestResource, _: &Run<TestResource>| (one.spec.value != "quiet").then(|| said("here"));
    let operator = scene.start(scene.controller(&Script::idle()).status(status)).await?;
    scene.create("one", "loud").await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH testresources/one/status -> 200"]);
    scene.patch("one", json!({ "spec": { "value": "quiet" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1);
    assert!(settled.written().is_empty(), "{:?}", settled.written());
    assert_eq!(scene.resources.get("one").await?.status, Some(said("here")));
    Ok(())
}

#[operator_test]
async fn a_status_is_written_after_the_primary_that_the_reconciler_has_changed() -> Result<()> {
    let scene = Scene::new("status-and-resource").await?;
    let script = Script::new(|_, one: Arc<TestResource>, _| {
        Box::pin(async move {
            let mut changed = TestResource::clone(&one);
            changed.metadata.annotations = Some([("seen".to_owned(), "yes".to_owned())].into());
            changed.metadata.managed_fields = None;
            Ok(UpdateControl::patch_resource(changed))
        })
    });
    for (ssa, name) in [(true, "one"), (false, "two")] {
        let controller = scene.controller(&script).field_selector(format!("metadata.name={name}"));
        let controller = controller.use_ssa_to_patch_primary(ssa).status(status);
        let operator = scene.start(controller).await?;
        scene.create(name, "value").await?;
        let settled = operator.settled().await?;
        let expected = [
            format!("PATCH testresources/{name} -> 200"),
            format!("PATCH testresources/{name}/status -> 200"),
        ];
        assert_eq!(settled.written(), expected, "by server-side apply: {ssa}");
        let written = scene.resources.get(name).await?.status.unwrap_or_default();
        assert_eq!((written.message.as_deref(), written.conditions.len()), (Some("value"), 3));
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn without_server_side_apply_a_status_that_stays_is_not_written() -> Result<()> {
    let scene = Scene::new("status-no-ssa").await?;
    let workflow = Workflow::builder().nodes((Child("app").node(),)).build()?;
    let controller = scene.managed(&Script::idle(), &workflow).use_ssa_to_patch_primary(false).status(status);
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let label = Patch::Merge(json!({ "metadata": { "labels": { "somebody": "else" } } }));
    scene.api::<ConfigMap>().patch("one-app", &PatchParams::default(), &label).await?;
    let settled = operator.settled().await?;
    assert!(settled.written().is_empty(), "{:?}", settled.written());
    scene.patch("one", json!({ "spec": { "value": "other" } })).await?;
    let written = operator.settled().await?.written();
    assert_eq!(written, ["PATCH configmaps/one-app -> 200", "PATCH testresources/one/status -> 200"]);
    Ok(())
}

/// The part of a service's status that is the operator's.
fn of_service(service: &Service, run: &Run<Service>) -> Value {
    json!({ "conditions": run.conditions(service) })
}

/// The same as the kind's own type, which leaves out what isn't said.
fn typed_of_service(service: &Service, run: &Run<Service>) -> Option<ServiceStatus> {
    let conditions = Some(run.conditions(service));
    (!run.is_cleanup()).then(|| ServiceStatus { conditions, ..ServiceStatus::default() })
}

#[operator_test]
async fn a_kind_of_the_clusters_own_gets_a_part_of_its_status_and_others_keep_theirs() -> Result<()> {
    let scene = Scene::new("status-built-in").await?;
    others_keep_theirs(&scene, |controller| controller.status(of_service)).await
}

#[operator_test]
async fn the_part_of_a_status_may_be_of_the_kinds_own_type() -> Result<()> {
    let scene = Scene::new("status-built-in-typed").await?;
    others_keep_theirs(&scene, |controller| controller.status(typed_of_service)).await
}

type OfServices = ControllerBuilder<Script<Service>>;

async fn others_keep_theirs(scene: &Scene, with_status: impl FnOnce(OfServices) -> OfServices) -> Result<()> {
    let services = scene.api::<Service>();
    let spec = json!({ "metadata": { "name": "one" }, "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }] } });
    services.create(&PostParams::default(), &serde_json::from_value(spec)?).await?;
    // Somebody else's condition, in a list of items by type.
    let theirs = |status: &str| {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] }, "conditions": [{
                "type": "Theirs", "status": status, "reason": "Told", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        })
    };
    let somebody = PatchParams::apply("somebody");
    services.patch_status("one", &somebody, &Patch::Apply(theirs("True"))).await?;
    let script = Script::<Service>::idle();
    let controller = script.controller().namespaces([&scene.namespace]).name("built-in");
    let operator = scene.start(with_status(controller)).await?;
    operator.settled().await?;
    // They say something else, and nobody is in their way.
    let said = services.patch_status("one", &somebody, &Patch::Apply(theirs("False"))).await;
    assert!(said.is_ok(), "{said:?}");
    operator.settled().await?;
    let label = Patch::Merge(json!({ "metadata": { "annotations": { "somebody": "else" } } }));
    services.patch("one", &PatchParams::default(), &label).await?;
    operator.settled().await?;
    let service = services.get("one").await?;
    let status = service.status.unwrap_or_default();
    let ingress = status.load_balancer.and_then(|balancer| balancer.ingress).unwrap_or_default();
    assert_eq!(ingress.first().and_then(|ingress| ingress.ip.as_deref()), Some("192.0.2.1"), "their field");
    let conditions = status.conditions.unwrap_or_default();
    let mut told: Vec<_> = conditions.iter().map(|of| format!("{} {}", of.type_, of.status)).collect();
    told.sort();
    assert_eq!(told, ["Ready True", "Reconciling False", "Stalled False", "Theirs False"]);
    Ok(())
}

#[operator_test]
async fn the_next_run_is_known_to_follow() -> Result<()> {
    let scene = Scene::new("status-another").await?;
    let (of, follows) = (scene.clone(), Arc::new(AtomicUsize::new(0)));
    let script = Script::new(move |run, _, context| {
        let scene = of.clone();
        Box::pin(async move {
            if run == 1 {
                scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
                while !context.another_follows() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
            Ok(UpdateControl::no_update())
        })
    });
    let noted = Arc::clone(&follows);
    let status = move |one: &TestResource, run: &Run<TestResource>| -> Option<TestStatus> {
        if run.another_follows() {
            noted.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        Some(status(one, run))
    };
    let operator = scene.start(scene.controller(&script).status(status)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(follows.load(Ordering::SeqCst), 1);
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    assert_eq!(
        scene.resources.get("one").await?.status.unwrap_or_default().message.as_deref(),
        Some("second")
    );
    Ok(())
}
