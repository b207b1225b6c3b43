//! A client that makes the same requests with the same concurrency and nothing else: no cache, no queue, no comparison.
//! It costs only what the server takes.

use std::{collections::HashMap, fmt::Debug, sync::Arc, time::Duration};

use anyhow::Result;
use futures::{TryStreamExt, pin_mut};
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Api, Client, Config, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{WatchStreamExt, watcher},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::workload::{CONCURRENCY, Children, TestResource, status};

const MANAGER: &str = "bare";
const FINALIZER: &str = "load.bench.operator-core.io/finalizer";

fn apply() -> PatchParams {
    PatchParams::apply(MANAGER).force()
}

struct Shared {
    primaries: Api<TestResource>,
    client: Client,
    slots: Semaphore,
}

impl Shared {
    async fn finalizers(&self, name: &str, finalizers: &[&str]) -> kube::Result<TestResource> {
        let patch = Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
        self.primaries.patch(name, &PatchParams::default(), &patch).await
    }

    async fn put<K>(&self, child: &K) -> kube::Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Serialize
            + DeserializeOwned
            + Clone
            + Debug,
    {
        let api = Api::<K>::namespaced(self.client.clone(), &child.namespace().unwrap_or_default());
        api.patch(&child.name_any(), &apply(), &Patch::Apply(child)).await.map(|_| ())
    }

    async fn apply(&self, primary: TestResource) -> kube::Result<()> {
        let name = primary.name_any();
        if primary.meta().deletion_timestamp.is_some() {
            return self.finalizers(&name, &[]).await.map(|_| ());
        }
        if primary.finalizers().is_empty() {
            self.finalizers(&name, &[FINALIZER]).await?;
        }
        let Some(owner) = primary.controller_owner_ref(&()) else { return Ok(()) };
        let children = Children::of(&primary, &owner);
        tokio::try_join!(
            self.put(&children.config_map),
            self.put(&children.secret),
            self.put(&children.deployment),
            self.put(&children.service),
        )?;
        let body: Value = json!({
            "apiVersion": TestResource::api_version(&()),
            "kind": TestResource::kind(&()),
            "status": status(&primary),
        });
        self.primaries.patch_status(&name, &apply(), &Patch::Apply(&body)).await.map(|_| ())
    }
}

/// Runs until the process is ended.
pub(crate) async fn run(config: Config, namespace: &str) -> Result<()> {
    let client = Client::try_from(config)?;
    let shared = Arc::new(Shared {
        primaries: Api::namespaced(client.clone(), namespace),
        client,
        slots: Semaphore::new(CONCURRENCY),
    });
    let objects = watcher(shared.primaries.clone(), watcher::Config::default())
        .default_backoff()
        .modify(|primary| primary.managed_fields_mut().clear())
        .touched_objects();
    pin_mut!(objects);
    // The generation that was taken up last; a mark for deletion raises it, too. An object's end is its last event.
    let mut taken_up = HashMap::new();
    while let Some(primary) = objects.try_next().await? {
        let (uid, generation) = (primary.uid(), primary.metadata.generation);
        let gone = primary.meta().deletion_timestamp.is_some() && primary.finalizers().is_empty();
        if gone || taken_up.insert(uid, generation) == Some(generation) {
            continue;
        }
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let Ok(_slot) = shared.slots.acquire().await else { return };
            while shared.apply(primary.clone()).await.is_err() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    }
    Ok(())
}
