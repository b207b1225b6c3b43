//! The operator, tested as its author would: the declaration, single runs, the life of a store on a server inside the process, and
//! bad luck.

use std::{process::Command, sync::Arc};

use anyhow::Result;
use k8s_openapi::api::{apps::v1::StatefulSetStatus, batch::v1::CronJob, core::v1::Secret};
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_core::{
    controller::IntoController,
    sim_test,
    testing::{
        Planned, TestCluster, TestOperator, eventually,
        simulation::{FaultPlan, Sim},
    },
};
use serde_json::json;
use store::{RBAC, Store, StoreSpec, controller, members, operator, outside::InMemory};

const ACCOUNT: &str = "system:serviceaccount:store-operator:store-operator";

fn store(members: i32) -> Store {
    let mut store = Store::new(
        "sessions",
        StoreSpec {
            members,
            version: "2.4".to_owned(),
            settings: Default::default(),
            password_secret: None,
            backups: None,
            metrics: false,
        },
    );
    store.metadata.namespace = Some("default".to_owned());
    store
}

fn keys(number: u64) -> Arc<InMemory> {
    Arc::new(InMemory::with_keys(number))
}

// ANCHOR: scene
/// The run after this one, once all members serve: there is no controller of StatefulSets in a dry run.
fn once_all_serve(run: &Planned<Store>) -> Planned<Store> {
    let mut set = run.get(members).expect("the members").as_ref().clone();
    let number = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    set.status = Some(StatefulSetStatus {
        observed_generation: set.metadata.generation,
        replicas: number,
        ready_replicas: Some(number),
        updated_replicas: Some(number),
        available_replicas: Some(number),
        current_revision: Some("one".to_owned()),
        update_revision: Some("one".to_owned()),
        ..StatefulSetStatus::default()
    });
    run.again().known(&set).blocking()
}

/// The store with another spec.
fn changed(run: &Planned<Store>, change: impl FnOnce(&mut StoreSpec)) -> Store {
    let mut store = run.primary().expect("it stays");
    change(&mut store.spec);
    store
}
// ANCHOR_END: scene

// ANCHOR: declaration
#[test]
fn the_operator_is_declared_well() {
    operator(keys(0)).assert_sound();
}

#[test]
fn deploy_has_the_definition() -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/crd.yaml");
    let output = Command::new(env!("CARGO_BIN_EXE_store")).args(["crd", "--check", file]).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
// ANCHOR_END: declaration

// ANCHOR: rights
#[test]
fn the_role_has_each_right_that_the_operator_needs() -> Result<()> {
    let controller = controller(keys(0)).into_controller()?;
    let missing = controller.access().into_iter().filter(|right| {
        let below = right.subresource.map(|below| format!("/{below}")).unwrap_or_default();
        let resource = format!("{}{below}", right.resource_type.plural());
        let rules = RBAC.split("- apiGroups: ").filter(|rule| rule.contains(&resource));
        !right.verbs.iter().all(|verb| rules.clone().any(|rule| rule.contains(verb)))
    });
    assert_eq!(missing.collect::<Vec<_>>(), []);
    Ok(())
}
// ANCHOR_END: rights

// ANCHOR: order
/// What is written, without the Events about conditions.
fn written(run: &Planned<Store>) -> Vec<String> {
    run.writes().iter().filter(|write| !write.contains(" Event/")).cloned().collect()
}

/// The Events that aren't about conditions.
fn told(run: &Planned<Store>) -> Vec<String> {
    let is_other = |event: &&String| !event.contains(" is True") && !event.contains(" is False");
    run.events().iter().filter(is_other).cloned().collect()
}

#[test]
fn members_wait_for_the_password_of_the_user() {
    let mut store = store(3);
    store.spec.password_secret = Some("mine".to_owned());
    let run = controller(keys(0)).dry_run(&store).blocking();
    let state = run.state(members).to_string();
    assert!(state.contains("waiting for credentials"), "{state}");
    assert!(run.writes().iter().all(|write| !write.contains("StatefulSet")), "{:?}", run.writes());
    let message = run.body("apply Store/sessions/status")["status"]["conditions"][0]["message"].to_string();
    assert!(message.contains("Secret default/mine not found"), "{message}");

    let mut empty = Secret::default();
    (empty.metadata.name, empty.metadata.namespace) = (Some("mine".to_owned()), store.namespace());
    let run = controller(keys(0)).dry_run(&store).known(&empty).blocking();
    let state = run.state(members).to_string();
    assert!(state.ends_with("the Secret mine has no key `password`"), "{state}");
}

#[test]
fn a_store_whose_user_brings_a_password_keeps_its_members() {
    let run = once_all_serve(&controller(keys(0)).dry_run(&store(3)).blocking());
    let store = changed(&run, |spec| spec.password_secret = Some("mine".to_owned()));
    let mut mine =
        Secret { data: Some([("password".to_owned(), Default::default())].into()), ..Secret::default() };
    (mine.metadata.name, mine.metadata.namespace) = (Some("mine".to_owned()), store.namespace());
    let run = run.again().known(&store).known(&mine).blocking();
    assert_eq!(written(&run), ["apply StatefulSet/sessions", "apply Store/sessions/status"]);
    // The generated one goes last, when no member needs it any more.
    let run = once_all_serve(&run);
    assert_eq!(written(&run), ["delete Secret/sessions-password", "apply Store/sessions/status"]);
}
// ANCHOR_END: order

// ANCHOR: drain
#[test]
fn members_leave_once_they_have_no_keys() {
    let run = once_all_serve(&controller(keys(1500)).dry_run(&store(3)).blocking());
    let run = run.again().known(&changed(&run, |spec| spec.members = 1)).blocking();
    let status = &run.body("apply Store/sessions/status")["status"];
    let draining = status["conditions"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    assert_eq!(draining["message"], "from 3 members to 1: 1500 keys are left");
    assert_eq!(run.next_run(), Some(std::time::Duration::from_secs(5)));
    let run = run.again().blocking().again().blocking();
    assert_eq!(run.body("apply StatefulSet/sessions")["spec"]["replicas"], 1);
    assert_eq!(told(&run), ["Normal Drained: 2 members have no keys any more"]);
}
// ANCHOR_END: drain

// ANCHOR: cleanup
#[test]
fn backups_are_deleted_once_no_other_can_begin() -> Result<()> {
    let (outside, mut store) = (keys(0), store(1));
    store.spec.backups = Some("0 3 * * *".to_owned());
    let run = once_all_serve(&controller(outside.clone()).dry_run(&store).blocking());
    let mut slow: CronJob = serde_json::from_value(run.body("apply CronJob/sessions-backups").clone())?;
    slow.metadata.finalizers = Some(vec!["example.com/slow".to_owned()]);
    let end = run.again().known(&slow).deleting().blocking();
    assert_eq!(written(&end), ["delete CronJob/sessions-backups", "apply Store/sessions/status"]);
    assert!(outside.without_backups().is_empty(), "a backup may still begin");

    // The CronJob is gone: nothing is left to delete in the cluster.
    let end = run.again().deleting().blocking().again().blocking();
    assert_eq!(told(&end), ["Normal BackupsDeleted: the store has no backups any more"]);
    assert_eq!(outside.without_backups(), ["default/sessions".to_owned()].into());
    Ok(())
}
// ANCHOR_END: cleanup

// ANCHOR: life
/// A server inside the process, and the operator on it with the rights that `deploy/` gives, and no others.
async fn running(outside: Arc<InMemory>) -> Result<(TestCluster, TestOperator, Api<Store>)> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([Store::crd()]).await?;
    cluster.apply_yaml("default", RBAC).await?;
    let builder = cluster.connect(operator(outside)).config(cluster.config_as(ACCOUNT, &[]));
    let stores = Api::namespaced(cluster.client()?, &cluster.namespace("shop").await?);
    Ok((cluster, TestOperator::start(builder).await?, stores))
}

#[tokio::test]
async fn a_store_is_served_shrinks_and_leaves_nothing() -> Result<()> {
    let outside = keys(0);
    let (_cluster, running, stores) = running(outside.clone()).await?;
    let ready = async |number: i32| {
        eventually("the members", async || {
            let status = stores.get("sessions").await?.status.unwrap_or_default();
            Ok((status.ready_members == number && status.members == number).then_some(()))
        })
        .await
    };
    let mut store = store(3);
    store.metadata.namespace = None;
    stores.create(&PostParams::default(), &store).await?;
    ready(3).await?;
    let shrink = Patch::Merge(json!({ "spec": { "members": 1, "backups": "0 3 * * *" } }));
    stores.patch("sessions", &PatchParams::default(), &shrink).await?;
    ready(1).await?;
    let settled = running.settled().await?;
    let refused: Vec<_> = settled.requests.iter().filter(|request| request.code == Some(403)).collect();
    assert!(refused.is_empty(), "{refused:#?}");

    stores.delete("sessions", &DeleteParams::default()).await?;
    eventually("its end", async || Ok(stores.get_opt("sessions").await?.is_none().then_some(()))).await?;
    assert_eq!(outside.without_backups().len(), 1, "its backups are deleted");
    running.stop().await;
    Ok(())
}
// ANCHOR_END: life

// ANCHOR: luck
#[sim_test(schedules = 4)]
async fn a_store_is_right_in_the_end_whatever_happens(sim: Sim) {
    sim.operator(|| operator(keys(1000)));
    sim.faults(FaultPlan::storm());
    sim.user(async |user| {
        user.apply(store(3)).await;
        user.patch::<Store>("sessions", json!({ "spec": { "members": 1, "backups": "0 3 * * *" } })).await;
        user.patch::<Store>("sessions", json!({ "spec": { "backups": null } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
// ANCHOR_END: luck
