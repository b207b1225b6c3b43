//! The sample `addon` under bad luck: 62 objects in three waves, a Job that is deleted when it has succeeded, and an object of
//! somebody else. What must never be is looked at with each change that the server stores, and not only in the end. A schedule takes
//! seconds: `.ci/nightly` runs many, optimised.

use std::sync::Arc;

use addon::{AddOn, AddOnSpec, operator};
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Secret;
use operator_core::{
    sim_test,
    testing::simulation::{FaultPlan, Oracle, Sim, User},
};
use parking_lot::Mutex;

/// The annotation of a primary that names the kinds of its objects.
const KINDS: &str = "operator-core.io/kinds";
/// The label with the uid of an object's primary.
const OWNER: &str = "operator-core.io/owner";
/// The annotation of an object that isn't the operator's.
const THEIRS: &str = "example.com/theirs";

/// What the server has stored so far, as far as it matters.
#[derive(Default)]
struct Watched {
    /// The kinds that each primary names, by its uid.
    named: BTreeMap<String, BTreeSet<String>>,
    /// The uids of a migration's Jobs, by their name.
    migrations: BTreeMap<String, BTreeSet<String>>,
    /// Objects of others, as they were made.
    theirs: BTreeMap<String, Value>,
    wrong: BTreeSet<String>,
}

impl Watched {
    fn changed(&mut self, object: &Value, is_gone: bool) {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, name, uid) = (text("/kind"), text("/metadata/name"), text("/metadata/uid"));
        let what = format!("{kind} {name}");
        if kind == "AddOn" && !is_gone {
            let noted = object["metadata"]["annotations"][KINDS].as_str().unwrap_or("{}");
            let noted: BTreeMap<String, BTreeSet<String>> =
                serde_json::from_str(noted).expect("the annotation is JSON");
            self.named.insert(uid, noted.into_values().flatten().collect());
            return;
        }
        if object["metadata"]["annotations"][THEIRS].is_string() {
            let before = self.theirs.entry(what.clone()).or_insert_with(|| object.clone());
            if before != object && !is_gone {
                self.wrong.insert(format!("{what} isn't the operator's, and has changed"));
            }
            return;
        }
        if kind == "Job" && name.contains("-to-") && !is_gone {
            let made = self.migrations.entry(name).or_default();
            made.insert(uid);
            if made.len() > 1 {
                self.wrong.insert(format!("{what} was made again"));
            }
        }
        // What a controller makes of a Service has its labels.
        let is_of_set = object["metadata"]["ownerReferences"].is_null() && kind != "Endpoints";
        if let (Some(owner), true, false) = (object["metadata"]["labels"][OWNER].as_str(), is_of_set, is_gone)
        {
            let group = text("/apiVersion");
            let group = group.split_once('/').map(|(group, _)| format!(".{group}"));
            let kind = kind + &group.unwrap_or_default();
            if !self.named.get(owner).is_some_and(|named| named.contains(&kind)) {
                self.wrong.insert(format!("{what} is of a kind that its primary doesn't name"));
            }
        }
    }
}

/// Looks at each change that the server stores from here on.
fn watch(sim: &Sim) {
    let watched = Arc::new(Mutex::new(Watched::default()));
    let sees = Arc::clone(&watched);
    let cluster = sim.cluster();
    let server = cluster.in_process_server().expect("a simulation has a server of its own");
    server.on_change(move |_, object, is_gone| sees.lock().changed(object, is_gone));
    sim.invariant(move |_| {
        let watched = watched.lock();
        if watched.migrations.is_empty() {
            return Err("no migration was seen".to_owned());
        }
        match watched.wrong.first() {
            Some(wrong) => Err(wrong.clone()),
            None => Ok(()),
        }
    });
}

fn addon(version: &str) -> AddOn {
    let spec = AddOnSpec { version: version.to_owned(), replicas: 1, greeting: "Hello".to_owned() };
    AddOn::new("hello", spec)
}

/// A budget counts the Pods of a Deployment that goes at the same time, so it has often changed when it is to be deleted. And the
/// watch of channels is ended with their definition.
fn as_it_is(sim: &Sim) {
    sim.expected_in_calm_run("delete poddisruptionbudgets/default/hello-");
    sim.expected_in_calm_run("watch channels -> 404");
    // Where no Pod becomes ready, the end of the time for that is written when all else is done.
    sim.without(Oracle::Quiet);
    for time in ["lastAppliedAt", "lastObservedAt", "processingSince"] {
        sim.made_up("addons", &format!("status/{time}"));
    }
    // A change that comes before the first run begins none.
    sim.made_up("addons", "status/revision");
}

/// Under bad luck that takes a while.
async fn until_it_exists(user: &User) {
    for _ in 0..600 {
        if user.get::<Service>("hello-api").await.is_some() {
            return;
        }
        user.pause(Duration::from_secs(1)).await;
    }
}

/// An add-on is installed, changed by hand, upgraded, and in the end deleted.
async fn life_of_an_addon(sim: Sim, plan: FaultPlan) {
    watch(&sim);
    sim.operator(operator);
    sim.faults(plan);
    as_it_is(&sim);
    sim.user(async |user| {
        user.apply(addon("1.4.0")).await;
        until_it_exists(&user).await;
        user.patch::<ConfigMap>("hello-web", json!({ "data": { "GREETING": "Bye" } })).await;
        user.delete::<Service>("hello-api").await;
        user.patch::<AddOn>("hello", json!({ "spec": { "version": "2.0.0" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

#[sim_test(schedules = 6)]
async fn an_addon_is_installed_and_upgraded_whatever_happens(sim: Sim) {
    life_of_an_addon(sim, FaultPlan::storm()).await;
}

#[sim_test(schedules = 6)]
async fn an_addon_outlives_crashes_between_its_writes(sim: Sim) {
    // There are some hundred writes, which takes minutes.
    let plan = match std::env::var_os("SIM_SWEEPS") {
        Some(_) => FaultPlan::none().crash_at_every_write(),
        None => FaultPlan::none().crashes(30, 2),
    };
    life_of_an_addon(sim, plan).await;
}

/// What somebody else has made stays as it is, until they delete it: then the add-on has its own.
#[sim_test(schedules = 6)]
async fn what_is_not_an_addons_stays_as_it_is(sim: Sim) {
    watch(&sim);
    sim.operator(operator);
    sim.faults(FaultPlan::storm());
    as_it_is(&sim);
    // Which of the two Secrets is there when the end comes is up to luck.
    sim.without(Oracle::NothingForbidden);
    sim.expected_in_calm_run("Secret default/hello-web exists already");
    sim.expected_in_calm_run("apply secrets/default/hello-web -> 409");
    sim.user(async |user| {
        let mut owner = ConfigMap::default();
        owner.metadata.name = Some("somebody".to_owned());
        let owner = user.create(owner).await;
        let mut theirs = Secret::default();
        theirs.metadata.name = Some("hello-web".to_owned());
        theirs.metadata.owner_references = owner.controller_owner_ref(&()).map(|of| vec![of]);
        theirs.metadata.annotations = Some([(THEIRS.to_owned(), String::new())].into());
        user.create(theirs).await;
        user.apply(addon("1.4.0")).await;
        user.pause(Duration::from_secs(30)).await;
        user.delete::<Secret>("hello-web").await;
        user.patch::<AddOn>("hello", json!({ "spec": { "greeting": "Hi" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
