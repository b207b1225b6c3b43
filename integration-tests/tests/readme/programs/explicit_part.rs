use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, ResourceExt};
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// How many pods a migration may take, as the config map `quota` of the namespace says.
struct Quota(i32);

fn quota(site: &Site) -> Vec<ObjectKey> {
    site.namespace().map(|namespace| ObjectKey::namespaced(&namespace, "quota")).into_iter().collect()
}

impl Quota {
    fn of(site: &Site, cx: &Context<Site>) -> Result<Quota> {
        let Some(key) = quota(site).pop() else { return Ok(Quota(0)) };
        let found = cx.get::<ConfigMap>(&key)?;
        let pods = found.as_ref().and_then(|map| map.data.as_ref()?.get("pods"));
        Ok(Quota(pods.map_or(Ok(0), |pods| pods.parse())?))
    }
}

/// Brings the data to what the image needs. It waits for a quota.
fn migration(site: &Site, quota: Data<Quota>) -> Result<Want<Job>> {
    if quota.0 == 0 {
        return Ok(Want::hold("NoQuota", "the namespace has no quota for migrations"));
    }
    let container = json!({ "name": "migration", "image": site.spec.image, "args": ["migrate"] });
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    let spec = json!({ "parallelism": quota.0, "template": template });
    Ok(Want::of(serde_json::from_value(json!({ "spec": spec }))?))
}

/// The server.
fn web(site: &Site) -> Result<Deployment> {
    let labels = json!({ "site": site.name_any() });
    let container = json!({ "name": "web", "image": site.spec.image });
    let template = json!({ "metadata": { "labels": labels }, "spec": { "containers": [container] } });
    let spec = json!({ "selector": { "matchLabels": labels }, "template": template });
    Ok(serde_json::from_value(json!({ "spec": spec }))?)
}

/// What the status says.
fn status(_: &Site, run: &Run<Site>) -> SiteStatus {
    SiteStatus { ready: run.all_ready() }
}

#[derive(ControllerConfiguration)]
#[controller(puts(Quota), status = status, refers_to::<ConfigMap>(quota))]
#[workflow(migration(recreate_when_immutable), web, explicit_invocation)]
struct Sites;

impl Reconciler for Sites {
    type Primary = Site;

    async fn reconcile(&self, site: &Site, cx: &mut Context<Site>) -> Result<UpdateControl<Site>> {
        cx.put(Quota::of(site, cx)?);
        if cx.run_only((migration,)).await?.all_ready() && !site.spec.frozen {
            cx.run().await?;
        }
        Ok(UpdateControl::no_update())
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    Operator::builder().register(Sites).main().await
}
