use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

const MANAGER: &str = "sites";

/// The image that was migrated to. A job may be gone, but is not run again.
const MIGRATED: &str = "example.com/migrated";

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Site")]
#[kube(namespaced, status = "SiteStatus")]
struct SiteSpec {
    image: String,
    #[serde(default)]
    frozen: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct SiteStatus {
    ready: bool,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(#[from] Failure);

struct Quota(i32);

impl Quota {
    async fn of(site: &Site, client: &Client) -> Result<Quota, Failure> {
        let maps = api::<ConfigMap>(site, client);
        let found = maps.get_opt("quota").await?;
        let pods = found.as_ref().and_then(|map| map.data.as_ref()?.get("pods"));
        Ok(Quota(pods.map_or(Ok(0), |pods| pods.parse())?))
    }
}

fn child(site: &Site, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(format!("{}-{name}", site.name_any())),
        namespace: site.namespace(),
        owner_references: site.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    }
}

fn migration(site: &Site, quota: &Quota) -> Result<Job, Failure> {
    let mut metadata = child(site, "migration");
    metadata.annotations = Some([(MIGRATED.to_owned(), site.spec.image.clone())].into());
    let container = json!({ "name": "migration", "image": site.spec.image, "args": ["migrate"] });
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    let spec = json!({ "parallelism": quota.0, "template": template });
    Ok(serde_json::from_value(json!({ "metadata": metadata, "spec": spec }))?)
}

fn web(site: &Site) -> Result<Deployment, Failure> {
    let labels = json!({ "site": site.name_any() });
    let container = json!({ "name": "web", "image": site.spec.image });
    let template = json!({ "metadata": { "labels": labels }, "spec": { "containers": [container] } });
    let spec = json!({ "selector": { "matchLabels": labels }, "template": template });
    Ok(serde_json::from_value(json!({ "metadata": child(site, "web"), "spec": spec }))?)
}

fn api<K>(site: &Site, client: &Client) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(client.clone(), &site.namespace().unwrap_or_default())
}

async fn apply<K>(site: &Site, client: &Client, object: &K) -> kube::Result<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Serialize + DeserializeOwned + Clone + std::fmt::Debug,
{
    let ours = PatchParams::apply(MANAGER).force();
    api::<K>(site, client).patch(&object.name_any(), &ours, &Patch::Apply(object)).await
}

async fn migrate(site: &Site, client: &Client, quota: &Quota) -> Result<bool, Failure> {
    if site.annotations().get(MIGRATED) == Some(&site.spec.image) {
        return Ok(true);
    }
    if quota.0 == 0 {
        return Ok(false);
    }
    let (jobs, wanted) = (api::<Job>(site, client), migration(site, quota)?);
    if let Some(other) = jobs.get_opt(&wanted.name_any()).await? {
        if other.annotations().get(MIGRATED) != Some(&site.spec.image) {
            // Its template can't be changed. The next run makes it anew, when this one is gone.
            jobs.delete(&other.name_any(), &DeleteParams::background()).await?;
            return Ok(false);
        }
    }
    let job = apply(site, client, &wanted).await?;
    let done = job.status.and_then(|status| status.conditions).unwrap_or_default();
    if !done.iter().any(|condition| condition.type_ == "Complete" && condition.status == "True") {
        return Ok(false);
    }
    let done = json!({ "metadata": { "annotations": { MIGRATED: site.spec.image } } });
    let ours = PatchParams::default();
    api::<Site>(site, client).patch(&site.name_any(), &ours, &Patch::Merge(done)).await?;
    Ok(true)
}

fn is_rolled_out(web: &Deployment) -> bool {
    let wanted = web.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    web.status.as_ref().is_some_and(|status| {
        status.observed_generation >= web.metadata.generation
            && status.updated_replicas.unwrap_or(0) >= wanted
            && status.available_replicas.unwrap_or(0) >= wanted
    })
}

async fn children(site: &Site, client: &Client) -> Result<bool, Failure> {
    let quota = Quota::of(site, client).await?;
    if !migrate(site, client, &quota).await? || site.spec.frozen {
        return Ok(false);
    }
    Ok(is_rolled_out(&apply(site, client, &web(site)?).await?))
}

async fn reconcile(site: Arc<Site>, client: Arc<Client>) -> Result<Action, Failed> {
    let outcome = children(&site, &client).await;
    let ready = *outcome.as_ref().unwrap_or(&false);
    if site.status.as_ref().is_none_or(|status| status.ready != ready) {
        let status = Patch::Merge(json!({ "status": SiteStatus { ready } }));
        let sites = api::<Site>(&site, &client);
        sites.patch_status(&site.name_any(), &PatchParams::default(), &status).await.map_err(Failure::from)?;
    }
    outcome?;
    Ok(Action::await_change())
}

fn failed(site: Arc<Site>, error: &Failed, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", site.name_any());
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    let everything = watcher::Config::default;
    let sites = Controller::new(Api::<Site>::all(client.clone()), everything());
    let known = sites.store();
    let of_quota = move |quota: ConfigMap| {
        let mut sites = known.state();
        sites.retain(|site| quota.name_any() == "quota" && site.namespace() == quota.namespace());
        sites.into_iter().map(|site| ObjectRef::from_obj(&*site))
    };
    sites
        .owns(Api::<Job>::all(client.clone()), everything())
        .owns(Api::<Deployment>::all(client.clone()), everything())
        .watches(Api::<ConfigMap>::all(client.clone()), everything(), of_quota)
        .shutdown_on_signal()
        .run(reconcile, failed, Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
    Ok(())
}
