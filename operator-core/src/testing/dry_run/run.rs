//! Makes the world, wires the controller to it, and executes one run.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{
    DryRun, Life, Planned,
    objects::{marked, name},
    planned::EndedRun,
    schedule::Schedule,
    transport::transport,
    world::World,
};
use crate::{
    client::Clients,
    controller::{Controller, OperatorParts},
    environment::{Environment, WallClock},
    event_source::{Discovery, Given, Sharing},
    observe::{Observation, Observer, Observers, RunEnd},
    reconciler::{AnyRun, DEFAULT_MAX_CONCURRENT_DEPENDENTS, Expected, WorkflowSurroundings},
    resource::{Departed, KubeObject, MarkNames, ObjectKey, ResourceType, Uid},
};

/// Uids and random delays are the same in each run.
const SEED: u64 = 1;

/// How long the writing of Events may take. Nothing slows it down.
const EVENTS: Duration = Duration::from_secs(60);

/// A clock that stands still.
#[derive(Debug)]
struct At(Timestamp);

impl WallClock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Keeps the reason why the run failed.
#[derive(Debug, Default)]
struct Hears(Mutex<Option<String>>);

impl Observer for Hears {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RunFinished { end: RunEnd::Failed { error, .. }, .. } = observation {
            *self.0.lock() = Some((*error).to_string());
        }
    }
}

/// The kinds of objects that may be given or asked for.
fn kinds(controller: &Controller) -> Vec<ResourceType> {
    let mut kinds: Vec<_> = controller.access().into_iter().map(|access| access.resource_type).collect();
    kinds.push(ResourceType::of::<CustomResourceDefinition>());
    kinds.push(ResourceType::of::<Event>());
    kinds.sort();
    kinds.dedup();
    kinds
}

/// The primary as it is after its deletion: the controller's finalizer keeps it.
fn deleted(primary: &mut Value, finalizer: Option<&str>, now: Timestamp) {
    let meta = &mut primary["metadata"];
    if meta["deletionTimestamp"].is_null() {
        meta["deletionTimestamp"] = json!(Time(now));
    }
    let mut finalizers = meta["finalizers"].as_array().cloned().unwrap_or_default();
    if let Some(finalizer) = finalizer.filter(|finalizer| !finalizers.contains(&json!(finalizer))) {
        finalizers.push(finalizer.into());
    }
    if !finalizers.is_empty() {
        meta["finalizers"] = finalizers.into();
    }
}

/// The last state of a primary, which is gone from the world.
fn departed<P: KubeObject>(
    controller: &Controller,
    world: &World,
    (kind, key): (&ResourceType, &ObjectKey),
) -> Departed {
    assert!(
        controller.sees_ends(),
        "nothing runs for a primary that is gone: the controller isn't triggered on all events, `.trigger_on_all_events(true)`"
    );
    let last = world.take(kind, key).unwrap_or_default();
    let last = serde_json::from_value::<P>(Value::clone(&last));
    let last = last.unwrap_or_else(|error| panic!("the primary can't be read as its type: {error}"));
    Departed { last: Arc::new(last), final_state_unknown: false }
}

pub(super) async fn run<P: KubeObject>(dry: DryRun<P>) -> Planned<P> {
    let DryRun {
        controller,
        mut primary,
        before,
        known,
        made,
        resources,
        lacks,
        now,
        attempt,
        life,
        expected,
        ..
    } = dry;
    let environment =
        Environment::real().with_wall_clock(Arc::new(At(now))).with_seed(SEED).on_host("a-dry-run");
    let kind = controller.resource_type().clone();
    if life == Life::Marked {
        deleted(&mut primary, controller.finalizer(), now);
    }
    let given = (lacks.clone(), resources.clone());
    let manager = controller.field_manager();
    let world = Arc::new(World::new(&environment, manager, kinds(&controller), given, before.as_ref()));
    let key = world.add_primary(primary);
    let stored = world.get(&kind, &key).unwrap_or_default();
    let meta: ObjectMeta = serde_json::from_value(stored["metadata"].clone())
        .unwrap_or_else(|error| panic!("the primary's metadata can't be read: {error}"));
    let departed = (life == Life::Gone).then(|| departed::<P>(&controller, &world, (&kind, &key)));
    for object in known {
        world.add(object, key.namespace());
    }
    let (named, nameless): (Vec<_>, Vec<_>) =
        made.into_iter().partition(|(_, object)| object["metadata"]["name"].is_string());
    let add = |made| world.add(marked(made, &controller, (&key, &meta), &world), key.namespace());
    for made in named {
        add(made);
    }
    world.define();

    let config = kube::Config::new(http::Uri::from_static("http://a-dry-run"));
    let clients = Clients::new(&config, &transport(&world), None, &environment)
        .expect("a client without credentials can always be made");
    let heard = Arc::new(Hears::default());
    let observers = Observers::new(vec![Arc::clone(&heard) as Arc<dyn Observer>]);
    let discovery =
        Discovery::new(clients.clone(), environment.clone(), observers.clone()).with_given(&*world);
    let parts = || OperatorParts {
        clients: clients.clone(),
        environment: environment.clone(),
        observers: observers.clone(),
        cache_sync_timeout: None,
        starts_as_a_whole: false,
        namespaces: None,
        workflows: WorkflowSurroundings::new(DEFAULT_MAX_CONCURRENT_DEPENDENTS)
            .with_discovery(discovery.clone()),
        spread: 0.0,
        places: None,
        receiver: None,
        marks: MarkNames::default(),
        sharing: Sharing::default(),
        managers: BTreeSet::new(),
        given: Some(Arc::clone(&world) as Arc<dyn Given>),
    };
    let mut wired = controller.wire(&parts());
    let mut schedule = Schedule::new(
        wired.config.clone(),
        (key.clone(), Uid::new(meta.uid.as_deref().unwrap_or_default())),
        life == Life::Marked,
        departed,
    );
    let run = schedule.run(attempt);
    let run = run.unwrap_or_else(|| panic!("the controller's retry policy has no attempt {attempt}"));
    if !nameless.is_empty() {
        // Only a function knows what it calls its object, and it may read what is there.
        let context = wired.dispatcher.context_of(&run);
        for (node, mut object) in nameless {
            let own = controller.keys_of(&node, &context).await;
            name(&mut object, &node, &own);
            add((node, object));
        }
        // The caches show what has come.
        wired = controller.wire(&parts());
    }
    world.withdraw();
    if let Some((expected, then, before)) = expected {
        let passed = Duration::try_from(now.duration_since(before)).unwrap_or_default();
        let later = |kept: &mut Expected| *kept = expected.later(then, passed);
        wired.dispatcher.shared.scopes.of(&key).change(later);
    }
    // What the status function learns about the run.
    let told: Arc<Mutex<Option<Arc<AnyRun>>>> = Arc::default();
    let (said, function) = (Arc::clone(&told), wired.dispatcher.status.take());
    wired.dispatcher.status = Some(Arc::new(move |primary, run| {
        *said.lock() = Some(Arc::clone(run));
        function.as_ref().and_then(|function| function(primary, run))
    }));

    let context = wired.dispatcher.context_of(&run);
    let outcome = wired.dispatcher.dispatch_in(&context, run.clone()).await;
    wired.dispatcher.shared.events.finish(EVENTS).await;
    schedule.ended(&run, outcome);
    if world.get(&kind, &key).is_none() {
        schedule.gone(&run);
    }

    let told = told.lock().take();
    let error = heard.0.lock().take();
    let (next, ended) = (schedule.next_in(), context.shared().writer.environment.now());
    let end = EndedRun { controller, world, context, key, next, error, resources, lacks, now, ended };
    Planned::new(end, told)
}
