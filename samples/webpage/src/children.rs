//! What each child of a page should look like: functions of the page, without side effects.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
        networking::v1::Ingress,
    },
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::ResourceExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{WebPage, WebPageError};

/// The annotation of the pods that changes with the html, so that a new page rolls them.
const HTML_HASH: &str = "sample.operator-core.io/html-hash";

/// The name of the page's config map.
pub(crate) fn config_map_name(page: &WebPage) -> String {
    format!("{}-html", page.name_any())
}

/// All children of one page.
pub(crate) struct Children<'p> {
    page: &'p WebPage,
    owner: OwnerReference,
}

impl<'p> Children<'p> {
    pub(crate) fn of(page: &'p WebPage, owner: OwnerReference) -> Self {
        Self { page, owner }
    }

    /// Holds the html.
    pub(crate) fn config_map(&self) -> ConfigMap {
        ConfigMap {
            metadata: self.metadata(config_map_name(self.page)),
            data: Some([("index.html".to_owned(), self.page.spec.html.clone())].into()),
            ..ConfigMap::default()
        }
    }

    /// Serves the html with nginx, as a user without rights.
    pub(crate) fn deployment(&self) -> Result<Deployment, WebPageError> {
        let labels = self.labels();
        self.typed(json!({
            "metadata": self.metadata(self.page.name_any()),
            "spec": {
                "replicas": 1,
                "selector": { "matchLabels": labels },
                "template": {
                    "metadata": { "labels": labels, "annotations": { HTML_HASH: self.html_hash() } },
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
                        "volumes": [{ "name": "html", "configMap": { "name": config_map_name(self.page) } }],
                    },
                },
            },
        }))
    }

    /// Gives the pods one address.
    pub(crate) fn service(&self) -> Result<Service, WebPageError> {
        self.typed(json!({
            "metadata": self.metadata(self.page.name_any()),
            "spec": {
                "selector": self.labels(),
                "ports": [{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }],
            },
        }))
    }

    /// Makes the page reachable from outside.
    pub(crate) fn ingress(&self) -> Result<Ingress, WebPageError> {
        let service = json!({ "name": self.page.name_any(), "port": { "name": "http" } });
        self.typed(json!({
            "metadata": self.metadata(self.page.name_any()),
            "spec": {
                "rules": [{
                    "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": { "service": service } }] },
                }],
            },
        }))
    }

    fn metadata(&self, name: String) -> ObjectMeta {
        ObjectMeta {
            name: Some(name),
            namespace: self.page.namespace(),
            labels: serde_json::from_value(self.labels()).ok(),
            owner_references: Some(vec![self.owner.clone()]),
            ..ObjectMeta::default()
        }
    }

    fn labels(&self) -> Value {
        json!({ "app.kubernetes.io/name": "webpage", "app.kubernetes.io/instance": self.page.name_any() })
    }

    fn html_hash(&self) -> String {
        Sha256::digest(&self.page.spec.html).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    fn typed<K: DeserializeOwned>(&self, object: Value) -> Result<K, WebPageError> {
        serde_json::from_value(object).map_err(WebPageError::Template)
    }
}
