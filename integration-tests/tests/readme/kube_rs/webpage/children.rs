//! The desired state of each child.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
    networking::v1::Ingress,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

use crate::page::WebPage;

pub fn config_map_name(page: &WebPage) -> String {
    format!("{}-html", page.name_any())
}

pub fn config_map(page: &WebPage) -> ConfigMap {
    let data = [("index.html".to_owned(), page.spec.html.clone())];
    let metadata = metadata(page, config_map_name(page));
    ConfigMap { metadata, data: Some(data.into()), ..ConfigMap::default() }
}

/// The version of the html rolls the pods.
pub fn deployment(page: &WebPage, html_version: &str) -> serde_json::Result<Deployment> {
    let labels = labels(page);
    let annotations = json!({ "sample.operator-core.io/html-version": html_version });
    serde_json::from_value(json!({
        "metadata": metadata(page, page.name_any()),
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels, "annotations": annotations },
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

pub fn service(page: &WebPage) -> serde_json::Result<Service> {
    let ports = json!([{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }]);
    let spec = json!({ "selector": labels(page), "ports": ports });
    serde_json::from_value(json!({ "metadata": metadata(page, page.name_any()), "spec": spec }))
}

pub fn ingress(page: &WebPage) -> serde_json::Result<Ingress> {
    let service = json!({ "name": page.name_any(), "port": { "name": "http" } });
    let paths = json!([{ "path": "/", "pathType": "Prefix", "backend": { "service": service } }]);
    let spec = json!({ "rules": [{ "http": { "paths": paths } }] });
    serde_json::from_value(json!({ "metadata": metadata(page, page.name_any()), "spec": spec }))
}

fn metadata(page: &WebPage, name: String) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: page.namespace(),
        labels: serde_json::from_value(labels(page)).ok(),
        owner_references: page.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    }
}

fn labels(page: &WebPage) -> Value {
    json!({ "app.kubernetes.io/name": "webpage", "app.kubernetes.io/instance": page.name_any() })
}
