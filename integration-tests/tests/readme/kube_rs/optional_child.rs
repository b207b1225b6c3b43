use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, NamespaceResourceScope};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::discovery::oneshot;
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

const MANAGER: &str = "pages";

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Page")]
#[kube(namespaced, status = "PageStatus")]
struct PageSpec {
    html: String,
    #[serde(default)]
    published: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct PageStatus {
    address: Option<String>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(#[from] Failure);

fn html(page: &Page) -> ConfigMap {
    let data = [("index.html".to_owned(), page.spec.html.clone())];
    ConfigMap { metadata: child(page, "html"), data: Some(data.into()), ..ConfigMap::default() }
}

fn web(page: &Page) -> Result<Deployment, Failure> {
    let labels = json!({ "page": page.name_any() });
    let volume = json!({ "name": "html", "configMap": { "name": format!("{}-html", page.name_any()) } });
    let mounts = json!([{ "name": "html", "mountPath": "/usr/share/nginx/html" }]);
    let image = "nginxinc/nginx-unprivileged:1.29";
    let container = json!({ "name": "nginx", "image": image, "volumeMounts": mounts });
    let pod = json!({ "containers": [container], "volumes": [volume] });
    let template = json!({ "metadata": { "labels": labels }, "spec": pod });
    let spec = json!({ "selector": { "matchLabels": labels }, "template": template });
    Ok(serde_json::from_value(json!({ "metadata": child(page, "web"), "spec": spec }))?)
}

fn address(page: &Page) -> Result<Service, Failure> {
    let ports = json!([{ "port": 80, "targetPort": 8080, "protocol": "TCP" }]);
    let spec = json!({ "selector": { "page": page.name_any() }, "ports": ports });
    Ok(serde_json::from_value(json!({ "metadata": child(page, "address"), "spec": spec }))?)
}

fn certificate(page: &Page) -> DynamicObject {
    let host = format!("{}.example.com", page.name_any());
    let issuer = json!({ "kind": "ClusterIssuer", "name": "default" });
    let spec = json!({ "dnsNames": [host], "secretName": page.name_any(), "issuerRef": issuer });
    let metadata = child(page, "certificate");
    DynamicObject { types: None, metadata, data: json!({ "spec": spec }) }
}

/// The kind of certificates, where the cluster has it. It is asked in each run, as a watch can't be added later.
async fn certificates(client: &Client) -> kube::Result<Option<ApiResource>> {
    let kind = GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate");
    match oneshot::pinned_kind(client, &kind).await {
        Ok((resource, _)) => Ok(Some(resource)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(kube::Error::Discovery(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn certify(page: &Page, client: &Client) -> kube::Result<()> {
    let Some(kind) = certificates(client).await? else { return Ok(()) };
    let namespace = page.namespace().unwrap_or_default();
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), &namespace, &kind);
    let mut wanted = certificate(page);
    let name = wanted.name_any();
    if !page.spec.published {
        if api.get_opt(&name).await?.is_some() {
            api.delete(&name, &DeleteParams::default()).await?;
        }
        return Ok(());
    }
    wanted.types = Some(kube::core::TypeMeta { api_version: kind.api_version, kind: kind.kind });
    api.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(&wanted)).await?;
    Ok(())
}

fn child(page: &Page, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(format!("{}-{name}", page.name_any())),
        namespace: page.namespace(),
        owner_references: page.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    }
}

fn is_rolled_out(web: &Deployment) -> bool {
    let wanted = web.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    web.status.as_ref().is_some_and(|status| {
        status.observed_generation >= web.metadata.generation
            && status.updated_replicas.unwrap_or(0) >= wanted
            && status.available_replicas.unwrap_or(0) >= wanted
    })
}

async fn apply<K>(client: &Client, object: &K) -> kube::Result<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Serialize + DeserializeOwned + Clone + std::fmt::Debug,
{
    let api = Api::<K>::namespaced(client.clone(), &object.namespace().unwrap_or_default());
    let ours = PatchParams::apply(MANAGER).force();
    api.patch(&object.name_any(), &ours, &Patch::Apply(object)).await
}

async fn children(page: &Page, client: &Client) -> Result<(Option<String>, bool), Failure> {
    let services = Api::<Service>::namespaced(client.clone(), &page.namespace().unwrap_or_default());
    let service = address(page)?;
    if !page.spec.published && services.get_opt(&service.name_any()).await?.is_some() {
        services.delete(&service.name_any(), &DeleteParams::default()).await?;
    }
    if page.spec.html.contains("error") {
        return Err("the html contains the word `error`".into());
    }
    certify(page, client).await?;
    apply(client, &html(page)).await?;
    if !is_rolled_out(&apply(client, &web(page)?).await?) {
        return Ok((None, false));
    }
    if !page.spec.published {
        return Ok((None, true));
    }
    Ok((Some(apply(client, &service).await?.name_any()), true))
}

fn condition(page: &Page, of: &str, is_met: bool, reason: &str, message: &str) -> Condition {
    let status = if is_met { "True" } else { "False" };
    let known = page.status.iter().flat_map(|status| &status.conditions);
    let since = known.filter(|known| known.type_ == of && known.status == status);
    let since = since.map(|known| known.last_transition_time.clone()).next();
    Condition {
        type_: of.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: page.metadata.generation,
        last_transition_time: since.unwrap_or_else(|| Time(Timestamp::now())),
    }
}

async fn reconcile(page: Arc<Page>, client: Arc<Client>) -> Result<Action, Failed> {
    let outcome = children(&page, &client).await;
    let (address, ready) = outcome.as_ref().map_or((None, false), Clone::clone);
    let error = outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let reason = if ready { "Ready" } else { "NotReady" };
    let conditions = vec![
        condition(&page, "Ready", ready, reason, &error),
        condition(&page, "Reconciling", !ready && error.is_empty(), reason, ""),
        condition(&page, "Stalled", !error.is_empty(), if error.is_empty() { "Going" } else { "Failed" }, &error),
    ];
    let same = page.status.as_ref().is_some_and(|status| {
        status.address == address && status.conditions == conditions
    });
    if !same {
        let pages = Api::<Page>::namespaced(Client::clone(&client), &page.namespace().unwrap_or_default());
        let status = json!({ "status": PageStatus { address, conditions } });
        let ours = PatchParams::default();
        pages.patch_status(&page.name_any(), &ours, &Patch::Merge(status)).await.map_err(Failure::from)?;
    }
    outcome?;
    // Nothing tells when the kind of certificates appears, or somebody changes one.
    Ok(Action::requeue(Duration::from_secs(300)))
}

fn failed(page: Arc<Page>, error: &Failed, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", page.name_any());
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    let everything = watcher::Config::default;
    Controller::new(Api::<Page>::all(client.clone()), everything())
        .owns(Api::<ConfigMap>::all(client.clone()), everything())
        .owns(Api::<Deployment>::all(client.clone()), everything())
        .owns(Api::<Service>::all(client.clone()), everything())
        .shutdown_on_signal()
        .run(reconcile, failed, Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
    Ok(())
}
