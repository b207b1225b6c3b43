//! kube-rs's own controller doing the same, as its documentation advises: a reflector store for each kind of children,
//! which shows whether a child has to be written; a generation predicate, because of which its own status writes don't
//! trigger it; a bounded concurrency; the finalizer helper.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use futures::{Stream, StreamExt};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{ConfigMap, Container, Secret, Service},
    },
};
use kube::{
    Api, Client, Config, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        Controller, WatchStreamExt,
        controller::{Action, Config as ControllerConfig},
        finalizer::{self, Event},
        predicates,
        reflector::{self, Store},
        utils::Predicate as _,
        watcher,
    },
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::workload::{CONCURRENCY, Children, TestResource, VALUE, is_ready, status};

const MANAGER: &str = "kube-rs";

struct Shared {
    client: Client,
    config_maps: Store<ConfigMap>,
    secrets: Store<Secret>,
    deployments: Store<Deployment>,
    services: Store<Service>,
}

#[derive(Debug)]
struct Failed(Box<dyn std::error::Error + Send + Sync>);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl From<kube::Error> for Failed {
    fn from(error: kube::Error) -> Self {
        Self(error.into())
    }
}

/// The written form of a kind's objects.
trait Child:
    Resource<Scope = NamespaceResourceScope, DynamicType = ()>
    + Serialize
    + DeserializeOwned
    + Clone
    + std::fmt::Debug
    + Send
    + Sync
    + 'static
{
}

impl Child for ConfigMap {}
impl Child for Secret {}
impl Child for Deployment {}
impl Child for Service {}

/// Writes a child if its known state isn't the same.
async fn put<K: Child>(
    client: &Client,
    store: &Store<K>,
    child: &K,
    is_same: impl Fn(&K, &K) -> bool,
) -> kube::Result<()> {
    let found = store.get(&reflector::ObjectRef::from_obj(child));
    if found.is_some_and(|found| {
        is_same(&found, child) && found.meta().owner_references == child.meta().owner_references
    }) {
        return Ok(());
    }
    let api = Api::<K>::namespaced(client.clone(), &child.namespace().unwrap_or_default());
    api.patch(&child.name_any(), &PatchParams::apply(MANAGER).force(), &Patch::Apply(child)).await.map(|_| ())
}

/// Compares the fields that this operator sets; the server fills in the rest of a template.
fn is_same_deployment(found: &Deployment, wanted: &Deployment) -> bool {
    let (Some(found), Some(wanted)) = (&found.spec, &wanted.spec) else { return false };
    found.replicas == wanted.replicas
        && labels(found) == labels(wanted)
        && container(found).is_some_and(|found| {
            container(wanted).is_some_and(|wanted| found.image == wanted.image && found.env == wanted.env)
        })
}

fn labels(spec: &DeploymentSpec) -> Option<&BTreeMap<String, String>> {
    spec.template.metadata.as_ref()?.labels.as_ref()
}

fn container(spec: &DeploymentSpec) -> Option<&Container> {
    spec.template.spec.as_ref()?.containers.first()
}

fn is_same_service(found: &Service, wanted: &Service) -> bool {
    let (Some(found_spec), Some(wanted_spec)) = (&found.spec, &wanted.spec) else { return false };
    found.annotations().get(VALUE) == wanted.annotations().get(VALUE)
        && found_spec.selector == wanted_spec.selector
        && found_spec.ports == wanted_spec.ports
}

async fn apply(primary: Arc<TestResource>, shared: &Shared) -> Result<Action, Failed> {
    let namespace = primary.namespace().unwrap_or_default();
    let Some(owner) = primary.controller_owner_ref(&()) else { return Ok(Action::await_change()) };
    let (client, children) = (&shared.client, Children::of(&primary, &owner));
    tokio::try_join!(
        put(client, &shared.config_maps, &children.config_map, |found, wanted| found.data == wanted.data),
        put(client, &shared.secrets, &children.secret, |found, wanted| found.data == wanted.data),
        put(client, &shared.deployments, &children.deployment, is_same_deployment),
        put(client, &shared.services, &children.service, is_same_service),
    )?;
    if !is_ready(&primary) {
        let body = json!({
            "apiVersion": TestResource::api_version(&()),
            "kind": TestResource::kind(&()),
            "status": status(&primary),
        });
        let primaries = Api::<TestResource>::namespaced(shared.client.clone(), &namespace);
        primaries
            .patch_status(&primary.name_any(), &PatchParams::apply(MANAGER).force(), &Patch::Apply(&body))
            .await?;
    }
    Ok(Action::await_change())
}

async fn reconcile(primary: Arc<TestResource>, shared: Arc<Shared>) -> Result<Action, Failed> {
    let namespace = primary.namespace().unwrap_or_default();
    let api = Api::<TestResource>::namespaced(shared.client.clone(), &namespace);
    finalizer::finalizer(&api, "load.bench.operator-core.io/finalizer", primary, async |event| match event {
        Event::Apply(primary) => apply(primary, &shared).await,
        Event::Cleanup(_) => Ok(Action::await_change()),
    })
    .await
    .map_err(|error| Failed(error.into()))
}

/// The children of one kind: their known states and their events.
fn children<K: Child>(
    client: &Client,
    namespace: &str,
) -> (Store<K>, impl Stream<Item = watcher::Result<K>> + Send + use<K>) {
    let (store, writer) = reflector::store();
    let events = watcher(Api::<K>::namespaced(client.clone(), namespace), watcher::Config::default())
        .default_backoff()
        .modify(|child| child.managed_fields_mut().clear())
        .reflect(writer)
        .touched_objects();
    (store, events)
}

/// Runs until the process is told to stop.
pub(crate) async fn run(config: Config, namespace: &str) -> Result<()> {
    let client = Client::try_from(config)?;
    let primaries = Api::<TestResource>::namespaced(client.clone(), namespace);

    let (config_maps, config_map_events) = children::<ConfigMap>(&client, namespace);
    let (secrets, secret_events) = children::<Secret>(&client, namespace);
    let (deployments, deployment_events) = children::<Deployment>(&client, namespace);
    let (services, service_events) = children::<Service>(&client, namespace);
    let (primary_store, primary_writer) = reflector::store();
    let triggers = watcher(primaries, watcher::Config::default())
        .default_backoff()
        .modify(|primary| primary.managed_fields_mut().clear())
        .reflect(primary_writer)
        .applied_objects()
        .predicate_filter(predicates::generation.combine(predicates::finalizers), Default::default());
    let shared = Arc::new(Shared { client, config_maps, secrets, deployments, services });
    Controller::for_stream(triggers, primary_store)
        .with_config(ControllerConfig::default().concurrency(u16::try_from(CONCURRENCY)?))
        .owns_stream(config_map_events)
        .owns_stream(secret_events)
        .owns_stream(deployment_events)
        .owns_stream(service_events)
        .graceful_shutdown_on(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), shared)
        .for_each(async |_| {})
        .await;
    Ok(())
}
