use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ResourceQuota, Service};
use kube::ResourceExt;
use operator_core::prelude::*;

/// What its team has set for all of its services.
fn team(service: &Service) -> Vec<ObjectKey> {
    let team = service.labels().get("team").into_iter();
    team.map(|t| ObjectKey::namespaced("teams", t)).collect()
}

/// A copy of it beside the service.
fn settings(service: &Service, cx: &Context<Service>) -> Result<Option<ConfigMap>> {
    let Some(key) = team(service).pop() else { return Ok(None) };
    let found = cx.get::<ConfigMap>(&key)?;
    Ok(found.map(|set| ConfigMap { data: set.data.clone(), ..ConfigMap::default() }))
}

/// What a namespace may take.
fn quota(namespace: &Namespace) -> Result<ResourceQuota> {
    let metadata = serde_json::json!({ "namespace": namespace.name_any() });
    let spec = serde_json::json!({ "hard": { "pods": "100" } });
    Ok(serde_json::from_value(serde_json::json!({ "metadata": metadata, "spec": spec }))?)
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let services = Controller::of_existing::<Service>();
    let services = services.refers_to::<ConfigMap>(team).workflow((settings,));
    let namespaces = Controller::of_existing::<Namespace>().workflow((quota,));
    let operator = Operator::builder().register(services);
    operator.register(namespaces).main().await
}
