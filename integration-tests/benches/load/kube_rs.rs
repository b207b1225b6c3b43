//! kube-rs's own controller doing the same, as its documentation advises: a reflector store for the children, so that a
//! child is written only where it differs; a generation predicate, so that its own status writes don't wake it; a bounded
//! concurrency; the finalizer helper.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use futures::{StreamExt, future::try_join_all};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        Controller, WatchStreamExt,
        controller::{Action, Config as ControllerConfig},
        finalizer::{self, Event},
        predicates, reflector,
        utils::Predicate as _,
        watcher,
    },
};
use serde_json::json;

use crate::workload::{CONCURRENCY, TestResource, children, is_ready, status};

const MANAGER: &str = "kube-rs";

struct Shared {
    client: Client,
    children: reflector::Store<ConfigMap>,
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

async fn apply(primary: Arc<TestResource>, shared: &Shared) -> Result<Action, Failed> {
    let namespace = primary.namespace().unwrap_or_default();
    let Some(owner) = primary.controller_owner_ref(&()) else { return Ok(Action::await_change()) };
    let maps = Api::<ConfigMap>::namespaced(shared.client.clone(), &namespace);
    let apply = PatchParams::apply(MANAGER).force();
    let differing = children(&primary, &owner).into_iter().filter(|child| {
        let key = reflector::ObjectRef::from_obj(child);
        shared.children.get(&key).is_none_or(|found| {
            found.data != child.data || found.metadata.owner_references != child.metadata.owner_references
        })
    });
    let (maps, apply_to_maps) = (&maps, &apply);
    let writes = differing.map(|child| async move {
        maps.patch(&child.name_any(), apply_to_maps, &Patch::Apply(&child)).await.map(|_| ())
    });
    try_join_all(writes).await?;
    if !is_ready(&primary) {
        let body = json!({
            "apiVersion": TestResource::api_version(&()),
            "kind": TestResource::kind(&()),
            "status": status(&primary),
        });
        let primaries = Api::<TestResource>::namespaced(shared.client.clone(), &namespace);
        primaries.patch_status(&primary.name_any(), &apply, &Patch::Apply(&body)).await?;
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

/// Runs until the process is told to stop.
pub(crate) async fn run(config: Config, namespace: &str) -> Result<()> {
    let client = Client::try_from(config)?;
    let primaries = Api::<TestResource>::namespaced(client.clone(), namespace);
    let maps = Api::<ConfigMap>::namespaced(client.clone(), namespace);

    let (store, writer) = reflector::store();
    let children = watcher(maps, watcher::Config::default())
        .default_backoff()
        .modify(|map| map.managed_fields_mut().clear())
        .reflect(writer)
        .touched_objects();
    let (primary_store, primary_writer) = reflector::store();
    let triggers = watcher(primaries, watcher::Config::default())
        .default_backoff()
        .modify(|primary| primary.managed_fields_mut().clear())
        .reflect(primary_writer)
        .applied_objects()
        .predicate_filter(predicates::generation.combine(predicates::finalizers), Default::default());
    let shared = Arc::new(Shared { client, children: store });
    Controller::for_stream(triggers, primary_store)
        .with_config(ControllerConfig::default().concurrency(u16::try_from(CONCURRENCY)?))
        .owns_stream(children)
        .graceful_shutdown_on(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), shared)
        .for_each(async |_| {})
        .await;
    Ok(())
}
