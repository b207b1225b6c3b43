use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::DynamicObject;
use kube::{CustomResource, ResourceExt};
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// The page itself. What holds an error stays as it is.
fn html(page: &Page) -> Want<ConfigMap> {
    if page.spec.html.contains("error") {
        return Want::hold("ErrorInHtml", "the html contains the word `error`");
    }
    let data = [("index.html".to_owned(), page.spec.html.clone())];
    Want::of(ConfigMap { data: Some(data.into()), ..ConfigMap::default() })
}

/// The server. Its own name is left to the framework; the volume names that of the map.
fn web(page: &Page) -> Result<Deployment> {
    let labels = json!({ "page": page.name_any() });
    Ok(serde_json::from_value(json!({
        "spec": {
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "containers": [{
                        "name": "nginx",
                        "image": "nginxinc/nginx-unprivileged:1.29",
                        "volumeMounts": [{ "name": "html", "mountPath": "/usr/share/nginx/html" }],
                    }],
                    "volumes": [{ "name": "html", "configMap": { "name": format!("{}-html", page.name_any()) } }],
                },
            },
        },
    }))?)
}

/// The address, where the page is published.
fn address(page: &Page) -> Result<Option<Service>> {
    if !page.spec.published {
        return Ok(None);
    }
    Ok(serde_json::from_value(json!({
        "spec": {
            "selector": { "page": page.name_any() },
            "ports": [{ "port": 80, "targetPort": 8080, "protocol": "TCP" }],
        },
    }))?)
}

/// The certificate of a published page, where the cluster has cert-manager.
fn certificate(page: &Page) -> Option<DynamicObject> {
    let host = format!("{}.example.com", page.name_any());
    let issuer = json!({ "kind": "ClusterIssuer", "name": "default" });
    let spec = json!({ "dnsNames": [host], "secretName": page.name_any(), "issuerRef": issuer });
    page.spec.published.then(|| DynamicObject {
        types: None,
        metadata: Default::default(),
        data: json!({ "spec": spec }),
    })
}

/// What the status says, whatever the run has come to.
fn status(page: &Page, run: &Run<Page>) -> PageStatus {
    let address = run.get(address).map(|service| service.name_any());
    PageStatus { address, conditions: run.conditions(page) }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let certificate = certificate.kind(("cert-manager.io/v1", "Certificate"));
    let pages = Controller::of::<Page>()
        .workflow((html, web.after(html), address.after(web)))
        .workflow((certificate.when_served(),))
        .status(status);
    Operator::builder().register(pages).main().await
}
