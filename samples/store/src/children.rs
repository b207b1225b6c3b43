//! What the objects of a store contain: functions of the store, without side effects.

use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::CronJob,
    core::v1::{ConfigMap, Secret, Service},
    policy::v1::PodDisruptionBudget,
};
use kube::{ResourceExt, core::DynamicObject};
use rand::distr::{Alphanumeric, SampleString};
use serde_json::{Result, Value, json};

use crate::types::Store;

/// The Secret with the password: the user's, or the generated one.
pub(crate) fn secret_name(store: &Store) -> String {
    store.spec.password_secret.clone().unwrap_or_else(|| format!("{}-password", store.name_any()))
}

/// The labels of the members' pods.
fn labels(store: &Store) -> Value {
    json!({ "app.kubernetes.io/name": "store", "app.kubernetes.io/instance": store.name_any() })
}

/// The same as text, for the status.
pub(crate) fn selector(store: &Store) -> String {
    format!("app.kubernetes.io/name=store,app.kubernetes.io/instance={}", store.name_any())
}

// ANCHOR: password
/// A generated password, unless the user names a Secret. Each call generates another one.
pub(crate) fn password(store: &Store) -> Option<Secret> {
    let password = || Alphanumeric.sample_string(&mut rand::rng(), 32);
    let secret =
        || Secret { string_data: Some([("password".to_owned(), password())].into()), ..Secret::default() };
    store.spec.password_secret.is_none().then(secret)
}
// ANCHOR_END: password

fn configuration(store: &Store) -> String {
    store.spec.settings.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

// ANCHOR: settings
/// The members' configuration.
pub(crate) fn settings(store: &Store) -> ConfigMap {
    let data = [("store.conf".to_owned(), configuration(store))];
    ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
}
// ANCHOR_END: settings

/// Gives each member a name of its own.
pub(crate) fn peers(store: &Store) -> Result<Service> {
    let ports = json!([{ "name": "store", "port": 7400, "protocol": "TCP" }]);
    // Members have to find each other before they can be ready.
    let spec = json!({
        "clusterIP": "None", "publishNotReadyAddresses": true, "selector": labels(store), "ports": ports,
    });
    serde_json::from_value(json!({ "spec": spec }))
}

/// The address for the store's users.
pub(crate) fn address(store: &Store) -> Result<Service> {
    let ports = json!([{ "name": "store", "port": 7400, "protocol": "TCP", "targetPort": "store" }]);
    let spec = json!({ "selector": labels(store), "ports": ports });
    serde_json::from_value(json!({ "metadata": { "name": store.name_any() }, "spec": spec }))
}

/// This number of members, each with a claim for its keys.
pub(crate) fn stateful_set(store: &Store, members: i32) -> Result<StatefulSet> {
    let labels = labels(store);
    let probe = json!({ "tcpSocket": { "port": "store" }, "periodSeconds": 5 });
    serde_json::from_value(json!({
        "metadata": { "name": store.name_any() },
        "spec": {
            "serviceName": format!("{}-peers", store.name_any()),
            "replicas": members,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": {
                    "labels": labels,
                    // Another configuration is another template, and restarts the members.
                    "annotations": { "sample.operator-core.io/configuration": configuration(store) },
                },
                "spec": {
                    "terminationGracePeriodSeconds": 60,
                    "securityContext": {
                        "runAsNonRoot": true, "runAsUser": 65534, "fsGroup": 65534,
                        "seccompProfile": { "type": "RuntimeDefault" },
                    },
                    "containers": [{
                        "name": "store",
                        "image": format!("example.com/store:{}", store.spec.version),
                        "env": [password_of(store)],
                        "ports": [{ "name": "store", "containerPort": 7400, "protocol": "TCP" }],
                        "readinessProbe": probe,
                        "securityContext": no_rights(),
                        "volumeMounts": [
                            { "name": "data", "mountPath": "/data" },
                            { "name": "settings", "mountPath": "/etc/store" },
                        ],
                    }],
                    "volumes": [{
                        "name": "settings", "configMap": { "name": format!("{}-settings", store.name_any()) },
                    }],
                },
            },
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } },
                },
            }],
        },
    }))
}

/// At most one member is taken away at a time, when a node is emptied.
pub(crate) fn budget(store: &Store) -> Result<PodDisruptionBudget> {
    let spec = json!({ "maxUnavailable": 1, "selector": { "matchLabels": labels(store) } });
    serde_json::from_value(json!({ "spec": spec }))
}

/// Makes backups, at the given times.
pub(crate) fn cron_job(store: &Store, schedule: &str) -> Result<CronJob> {
    let container = json!({
        "name": "backup",
        "image": format!("example.com/store:{}", store.spec.version),
        "args": ["backup", format!("--from={}:7400", store.name_any())],
        "env": [password_of(store)],
        "securityContext": no_rights(),
    });
    let pod = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    serde_json::from_value(json!({
        "spec": {
            "schedule": schedule,
            "concurrencyPolicy": "Forbid",
            "jobTemplate": { "spec": { "template": pod } },
        },
    }))
}

// ANCHOR: monitor
/// Has Prometheus scrape the members.
pub(crate) fn monitor(store: &Store) -> Option<DynamicObject> {
    let endpoints = json!([{ "port": "store", "path": "/metrics" }]);
    let data = json!({ "spec": { "selector": { "matchLabels": labels(store) }, "endpoints": endpoints } });
    store.spec.metrics.then(|| DynamicObject { types: None, metadata: Default::default(), data })
}
// ANCHOR_END: monitor

fn password_of(store: &Store) -> Value {
    let key = json!({ "name": secret_name(store), "key": "password" });
    json!({ "name": "STORE_PASSWORD", "valueFrom": { "secretKeyRef": key } })
}

fn no_rights() -> Value {
    json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } })
}
