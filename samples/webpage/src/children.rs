//! The desired state of each child of a page: functions of the page, without side effects. All styles share them; the
//! owner reference is not part of them.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
        networking::v1::Ingress,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::ResourceExt;
use operator_core::Run;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{WebPage, WebPageError, WebPageStatus};

/// The annotation of the pods that changes with the html, so that a new page rolls them.
const HTML_HASH: &str = "sample.operator-core.io/html-hash";

/// The name of the page's config map.
pub(crate) fn config_map_name(page: &WebPage) -> String {
    format!("{}-html", page.name_any())
}

/// Holds the html.
pub(crate) fn config_map(page: &WebPage) -> ConfigMap {
    ConfigMap {
        metadata: metadata(page, config_map_name(page)),
        data: Some([("index.html".to_owned(), page.spec.html.clone())].into()),
        ..ConfigMap::default()
    }
}

/// Serves the html with nginx, as a user without rights.
pub(crate) fn deployment(page: &WebPage) -> Result<Deployment, WebPageError> {
    let labels = labels(page);
    typed(json!({
        "metadata": metadata(page, page.name_any()),
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels, "annotations": { HTML_HASH: html_hash(page) } },
                "spec": {
                    "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
                    "containers": [{
                        "name": "nginx",
                        "image": "nginxinc/nginx-unprivileged:1.29",
                        "ports": [{ "name": "http", "containerPort": 8080, "protocol": "TCP" }],
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "capabilities": { "drop": ["ALL"] },
                        },
                        "volumeMounts": [{ "name": "html", "mountPath": "/usr/share/nginx/html" }],
                    }],
                    "volumes": [{ "name": "html", "configMap": { "name": config_map_name(page) } }],
                },
            },
        },
    }))
}

/// Gives the pods one address.
pub(crate) fn service(page: &WebPage) -> Result<Service, WebPageError> {
    typed(json!({
        "metadata": metadata(page, page.name_any()),
        "spec": {
            "selector": labels(page),
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }],
        },
    }))
}

/// Makes the page reachable from outside.
pub(crate) fn ingress(page: &WebPage) -> Result<Ingress, WebPageError> {
    let service = json!({ "name": page.name_any(), "port": { "name": "http" } });
    typed(json!({
        "metadata": metadata(page, page.name_any()),
        "spec": {
            "rules": [{
                "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": { "service": service } }] },
            }],
        },
    }))
}

fn metadata(page: &WebPage, name: String) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: page.namespace(),
        labels: serde_json::from_value(labels(page)).ok(),
        ..ObjectMeta::default()
    }
}

fn labels(page: &WebPage) -> Value {
    json!({ "app.kubernetes.io/name": "webpage", "app.kubernetes.io/instance": page.name_any() })
}

fn html_hash(page: &WebPage) -> String {
    Sha256::digest(&page.spec.html).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn typed<K: DeserializeOwned>(object: Value) -> Result<K, WebPageError> {
    serde_json::from_value(object).map_err(WebPageError::Template)
}

/// What a reconciler reports about the children: whether the page is served.
pub(crate) struct IsReady(pub(crate) bool);

/// The status of a page, whatever the outcome of its run. If the run failed, the existing values stay.
pub(crate) fn status(page: &WebPage, run: &Run<WebPage>) -> WebPageStatus {
    let observed_generation = page.metadata.generation;
    match run.error() {
        None => WebPageStatus {
            html_config_map: Some(config_map_name(page)),
            ready: run.data::<IsReady>().is_some_and(|said| said.0),
            error_message: None,
            observed_generation,
        },
        Some(error) => WebPageStatus {
            ready: false,
            error_message: Some(error.get_ref().to_string()),
            observed_generation,
            ..page.status.clone().unwrap_or_default()
        },
    }
}

/// Whether the html can be served.
pub(crate) fn is_servable(page: &WebPage) -> bool {
    !page.spec.html.contains("error")
}

/// Whether the newest pod template is running.
pub(crate) fn is_rolled_out(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation >= deployment.metadata.generation
            && status.updated_replicas.unwrap_or(0) >= wanted
            && status.ready_replicas.unwrap_or(0) >= wanted
            && status.replicas.unwrap_or(0) == wanted
    })
}
