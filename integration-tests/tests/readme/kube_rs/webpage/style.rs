//! The children in their order, and the status.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
    networking::v1::Ingress,
};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::children;
use crate::page::{WebPage, WebPageStatus};

const MANAGER: &str = "webpage-operator";

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(#[from] Failure);

fn api<K>(page: &WebPage, client: &Client) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(client.clone(), &page.namespace().unwrap_or_default())
}

async fn apply<K>(page: &WebPage, client: &Client, object: &K) -> kube::Result<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Serialize + DeserializeOwned + Clone + std::fmt::Debug,
{
    let ours = PatchParams::apply(MANAGER).force();
    api::<K>(page, client).patch(&object.name_any(), &ours, &Patch::Apply(object)).await
}

fn is_rolled_out(web: &Deployment) -> bool {
    let wanted = web.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    web.status.as_ref().is_some_and(|status| {
        status.observed_generation >= web.metadata.generation
            && status.updated_replicas.unwrap_or(0) >= wanted
            && status.available_replicas.unwrap_or(0) >= wanted
    })
}

/// Whether the page is served, and why it can't be.
async fn write(page: &WebPage, client: &Client) -> Result<(bool, Option<&'static str>), Failure> {
    let ingresses = api::<Ingress>(page, client);
    if !page.spec.exposed && ingresses.get_opt(&page.name_any()).await?.is_some() {
        ingresses.delete(&page.name_any(), &DeleteParams::default()).await?;
    }
    if page.spec.html.contains("error") {
        return Ok((false, Some("the html contains the word \"error\"")));
    }
    let html = apply(page, client, &children::config_map(page)).await?;
    let version = html.resource_version().unwrap_or_default();
    let web = apply(page, client, &children::deployment(page, &version)?).await?;
    apply(page, client, &children::service(page)?).await?;
    if page.spec.exposed {
        apply(page, client, &children::ingress(page)?).await?;
    }
    Ok((is_rolled_out(&web), None))
}

async fn status(page: &WebPage, client: &Client, ready: bool, error: Option<String>) -> kube::Result<()> {
    let name = children::config_map_name(page);
    let html = api::<ConfigMap>(page, client).get_opt(&name).await?;
    let status = WebPageStatus {
        html_config_map: html.map(|_| name),
        ready,
        error_message: error,
        observed_generation: page.metadata.generation,
    };
    if page.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let version = WebPage::api_version(&());
    let object = json!({ "apiVersion": version, "kind": WebPage::kind(&()), "status": status });
    let ours = PatchParams::apply(MANAGER).force();
    api::<WebPage>(page, client).patch_status(&page.name_any(), &ours, &Patch::Apply(object)).await?;
    Ok(())
}

async fn reconcile(page: Arc<WebPage>, client: Arc<Client>) -> Result<Action, Failed> {
    let outcome = write(&page, &client).await;
    let (ready, error) = match &outcome {
        Ok((ready, error)) => (*ready, error.map(str::to_owned)),
        Err(error) => (false, Some(error.to_string())),
    };
    status(&page, &client, ready, error).await.map_err(Failure::from)?;
    outcome?;
    Ok(Action::await_change())
}

fn failed(page: Arc<WebPage>, error: &Failed, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", page.name_any());
    Action::requeue(Duration::from_secs(5))
}

pub async fn run(client: Client) {
    let everything = watcher::Config::default;
    Controller::new(Api::<WebPage>::all(client.clone()), everything())
        .owns(Api::<ConfigMap>::all(client.clone()), everything())
        .owns(Api::<Deployment>::all(client.clone()), everything())
        .owns(Api::<Service>::all(client.clone()), everything())
        .owns(Api::<Ingress>::all(client.clone()), everything())
        .shutdown_on_signal()
        .run(reconcile, failed, Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
}
