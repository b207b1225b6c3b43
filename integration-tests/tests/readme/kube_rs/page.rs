use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::{Controller, controller::Action, watcher};
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
