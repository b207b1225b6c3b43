//! The first controller: a Tomcat, its pods with all wars that are handed to it, and their address.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{CustomResource, ResourceExt};
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The label of a war's config map: the name of the Tomcat that it is handed to.
pub const HANDED_TO: &str = "sample.operator-core.io/tomcat";

/// A number of equal Tomcats.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "sample.operator-core.io",
    version = "v1",
    kind = "Tomcat",
    namespaced,
    status = "TomcatStatus",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Replicas", "type": "integer", "jsonPath": ".status.readyReplicas"}"#
)]
pub struct TomcatSpec {
    /// The tag of the image `tomcat`, such as `11.0`.
    pub version: String,
    /// How many pods serve.
    #[schemars(range(min = 0))]
    pub replicas: i32,
}

/// The state of a Tomcat.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TomcatStatus {
    /// How many pods serve now.
    #[serde(default)]
    pub ready_replicas: i32,
    /// The wars in all pods, by their paths, as of the last completed rollout.
    #[serde(default)]
    pub wars: BTreeMap<String, War>,
    /// The generation of the spec that this status is about.
    pub observed_generation: Option<i64>,
    /// Ready, Reconciling and Stalled.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// A webapp at a path.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct War {
    /// Its name.
    pub webapp: String,
    /// Where its war is downloaded from.
    pub url: String,
}

/// The controller.
pub fn controller() -> ControllerBuilder<impl Reconciler<Primary = Tomcat>> {
    let handed = InformerEventSource::<ConfigMap>::new().label_selector(HANDED_TO).map_to_primary(tomcat_of);
    Controller::of::<Tomcat>()
        .name("tomcat-operator")
        .workflow((node(wars).informer(handed), web.after(wars), service))
        .status(status)
}

/// The Tomcat that a war is handed to. It need not exist.
fn tomcat_of(war: &ConfigMap) -> Vec<ObjectKey> {
    let namespace = war.namespace().unwrap_or_default();
    let name = war.labels().get(HANDED_TO);
    name.map(|name| ObjectKey::namespaced(&namespace, name)).into_iter().collect()
}

/// The wars that are handed to it. The controller of webapps makes them.
pub fn wars(_: &Tomcat) -> Read<Vec<ConfigMap>> {
    Read::all()
}

/// The wars by their paths. If several webapps want one path, the oldest has it.
fn by_path(maps: &[Arc<ConfigMap>]) -> BTreeMap<String, War> {
    let mut maps: Vec<&ConfigMap> = maps.iter().map(|map| &**map).collect();
    maps.sort_by_key(|map| (map.creation_timestamp(), map.name_any()));
    let mut wars = BTreeMap::new();
    for data in maps.iter().filter_map(|map| map.data.as_ref()) {
        let get = |key: &str| data.get(key).cloned();
        if let (Some(path), Some(webapp), Some(url)) = (get("path"), get("webapp"), get("url")) {
            wars.entry(path).or_insert(War { webapp, url });
        }
    }
    wars
}

/// The wars that this run has put into the pods.
struct Wars(BTreeMap<String, War>);

/// The pods. Each war is downloaded by an init container of its own, so a pod serves all of them or isn't ready; while
/// a new pod can't download a war, the old pods continue.
///
/// # Errors
/// If the template doesn't fit its type.
pub fn web(tomcat: &Tomcat, cx: &Context<Tomcat>) -> Result<Deployment> {
    let wars = by_path(&cx.secondaries::<ConfigMap>()?);
    let downloads: Vec<Value> = wars.iter().map(|(path, war)| download(path, war)).collect();
    cx.put(Wars(wars));
    let labels = labels(tomcat);
    Ok(serde_json::from_value(json!({
        "metadata": { "name": tomcat.name_any() },
        "spec": {
            "replicas": tomcat.spec.replicas,
            "selector": { "matchLabels": labels },
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 0, "maxSurge": 1 } },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "securityContext": {
                        "runAsNonRoot": true, "runAsUser": 65534, "seccompProfile": { "type": "RuntimeDefault" },
                    },
                    "initContainers": downloads,
                    "containers": [{
                        "name": "tomcat",
                        "image": format!("tomcat:{}", tomcat.spec.version),
                        "ports": [{ "name": "http", "containerPort": 8080, "protocol": "TCP" }],
                        "readinessProbe": { "tcpSocket": { "port": "http" } },
                        "securityContext": no_rights(),
                        "volumeMounts": [{ "name": "webapps", "mountPath": "/usr/local/tomcat/webapps" }],
                    }],
                    "volumes": [{ "name": "webapps", "emptyDir": {} }],
                },
            },
        },
    }))?)
}

/// The container that downloads a war. No shell interprets the url.
fn download(path: &str, war: &War) -> Value {
    let (name, file) = match path.trim_start_matches('/') {
        "" => ("war".to_owned(), "ROOT.war".to_owned()),
        path => (format!("war-{path}"), format!("{path}.war")),
    };
    json!({
        "name": name,
        "image": "curlimages/curl:8.16.0",
        "args": ["--fail", "--location", "--output", format!("/webapps/{file}"), "--url", war.url],
        "securityContext": no_rights(),
        "volumeMounts": [{ "name": "webapps", "mountPath": "/webapps" }],
    })
}

/// The pods' address.
///
/// # Errors
/// If the template doesn't fit its type.
pub fn service(tomcat: &Tomcat) -> Result<Service> {
    Ok(serde_json::from_value(json!({
        "metadata": { "name": tomcat.name_any() },
        "spec": {
            "selector": labels(tomcat),
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }],
        },
    }))?)
}

fn labels(tomcat: &Tomcat) -> Value {
    json!({ "app.kubernetes.io/name": "tomcat", "app.kubernetes.io/instance": tomcat.name_any() })
}

fn no_rights() -> Value {
    json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } })
}

fn status(tomcat: &Tomcat, run: &Run<Tomcat>) -> TomcatStatus {
    let before = tomcat.status.clone().unwrap_or_default();
    let pods = run.get(web).and_then(|web| web.status.clone());
    // Until a rollout is completed, some pods still have the former wars.
    let rolled_out = run.data::<Wars>().filter(|_| run.all_ready());
    TomcatStatus {
        ready_replicas: pods.and_then(|pods| pods.ready_replicas).unwrap_or(0),
        wars: rolled_out.map_or(before.wars, |wars| wars.0.clone()),
        observed_generation: tomcat.metadata.generation,
        conditions: run.conditions(tomcat),
    }
}
