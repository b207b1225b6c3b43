mod dns;

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use kube::api::{Patch, PatchParams};
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Api, Client, CustomResource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Host")]
#[kube(namespaced, status = "HostStatus")]
struct HostSpec {
    address: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct HostStatus {
    record: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Dns(#[from] dns::Error),
    #[error(transparent)]
    Kube(#[from] kube::Error),
}

struct Clients {
    kube: Client,
    dns: dns::Client,
}

fn id(host: &Host) -> Option<String> {
    host.status.as_ref()?.record.clone()
}

async fn keep(host: &Host, hosts: &Api<Host>, dns: &dns::Client) -> Result<Action, Failed> {
    let want = dns::Record::a(&host.name_any(), &host.spec.address);
    let id = id(host);
    let there = match &id {
        Some(id) => dns.get(id).await?,
        None => None,
    };
    match (id, there) {
        (Some(_), Some(there)) if there == want => {}
        (Some(id), Some(_)) => drop(dns.put(&id, &want).await?),
        _ => {
            // If the answer is lost, or the process dies before the patch, the record stays, and there will be a second one.
            let (id, _) = dns.post(&want, &host.uid().unwrap_or_default()).await?;
            let status = Patch::Merge(json!({ "status": { "record": id } }));
            hosts.patch_status(&host.name_any(), &PatchParams::default(), &status).await?;
        }
    }
    Ok(Action::requeue(Duration::from_secs(10)))
}

async fn remove(host: &Host, dns: &dns::Client) -> Result<Action, Failed> {
    if let Some(id) = id(host) {
        dns.remove(&id).await?;
    }
    Ok(Action::await_change())
}

async fn reconcile(host: Arc<Host>, clients: Arc<Clients>) -> Result<Action, finalizer::Error<Failed>> {
    let hosts = Api::<Host>::namespaced(clients.kube.clone(), &host.namespace().unwrap_or_default());
    let on = async |event| match event {
        Event::Apply(host) => keep(&host, &hosts, &clients.dns).await,
        Event::Cleanup(host) => remove(&host, &clients.dns).await,
    };
    finalizer(&hosts, "example.com/record", host, on).await
}

fn failed(host: Arc<Host>, error: &finalizer::Error<Failed>, _: Arc<Clients>) -> Action {
    eprintln!("{}: {error}", host.name_any());
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    let clients = Clients { kube: client.clone(), dns: dns::Client::new() };
    Controller::new(Api::<Host>::all(client), watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, failed, Arc::new(clients))
        .for_each(|_| std::future::ready(()))
        .await;
    Ok(())
}
