//! What the objects of a shop contain: functions of the shop, without side effects.

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
    policy::v1::PodDisruptionBudget,
};
use kube::ResourceExt;
use rand::distr::{Alphanumeric, SampleString};
use serde_json::{Result, Value, from_value, json};

use crate::types::Shop;

fn labels(shop: &Shop, part: &str) -> Value {
    json!({ "app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": shop.name_any(), "app.kubernetes.io/component": part })
}

fn image(shop: &Shop, of: &str) -> String {
    format!("example.com/{of}:{}", shop.spec.image.as_ref().unwrap_or(&shop.spec.version))
}

/// A password, another one in each call.
pub(crate) fn secret() -> Secret {
    let password = Alphanumeric.sample_string(&mut rand::rng(), 32);
    Secret { string_data: Some([("password".to_owned(), password)].into()), ..Secret::default() }
}

fn password_of(shop: &Shop) -> Value {
    let key = json!({ "name": format!("{}-password", shop.name_any()), "key": "password" });
    json!({ "name": "PASSWORD", "valueFrom": { "secretKeyRef": key } })
}

/// One member, with a claim for its data.
pub(crate) fn stateful_set(shop: &Shop) -> Result<StatefulSet> {
    let labels = labels(shop, "database");
    let claim =
        json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
    let container = json!({
        "name": "database", "image": "example.com/database:16.4", "env": [password_of(shop)],
        "ports": [{ "name": "sql", "containerPort": 5432, "protocol": "TCP" }],
        "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
    });
    from_value(json!({ "spec": {
        "serviceName": format!("{}-database", shop.name_any()),
        "replicas": 1,
        "selector": { "matchLabels": labels },
        "template": { "metadata": { "labels": labels }, "spec": { "containers": [container] } },
        "volumeClaimTemplates": [{ "metadata": { "name": "data" }, "spec": claim }],
    } }))
}

/// Changes the tables for a version.
pub(crate) fn job(shop: &Shop) -> Result<Job> {
    let container = json!({ "name": "migration", "image": format!("example.com/migration:{}", shop.spec.version), "env": [password_of(shop)] });
    let pod = json!({ "restartPolicy": "Never", "containers": [container] });
    from_value(json!({ "spec": { "template": { "spec": pod } } }))
}

/// A Service for the pods of a part.
pub(crate) fn service(shop: &Shop, part: &str) -> Result<Service> {
    let ports = json!([{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }]);
    from_value(json!({ "spec": { "selector": labels(shop, part), "ports": ports } }))
}

/// The pods of a part.
pub(crate) fn deployment(shop: &Shop, part: &str, replicas: i32) -> Result<Deployment> {
    let labels = labels(shop, part);
    let container = json!({
        "name": part, "image": image(shop, part), "env": [password_of(shop)],
        "ports": [{ "name": "http", "containerPort": 8080, "protocol": "TCP" }],
    });
    from_value(json!({ "spec": {
        "replicas": replicas,
        "selector": { "matchLabels": labels },
        "template": { "metadata": { "labels": labels }, "spec": { "containers": [container] } },
    } }))
}

/// The API's own address, for the links that it makes.
pub(crate) fn settings(address: &str) -> ConfigMap {
    ConfigMap { data: Some([("address".to_owned(), address.to_owned())].into()), ..ConfigMap::default() }
}

/// Up to three times the pods, while they are busy.
pub(crate) fn autoscaler(shop: &Shop, target: &str) -> Result<HorizontalPodAutoscaler> {
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": format!("{}-{target}", shop.name_any()) });
    let cpu = json!({ "type": "Resource", "resource": {
        "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 },
    } });
    let (from, to) = (shop.spec.replicas, 3 * shop.spec.replicas);
    from_value(
        json!({ "spec": { "scaleTargetRef": target, "minReplicas": from, "maxReplicas": to, "metrics": [cpu] } }),
    )
}

/// At most one pod is taken away at a time, when a node is emptied.
pub(crate) fn budget(shop: &Shop, part: &str) -> Result<PodDisruptionBudget> {
    from_value(json!({ "spec": { "maxUnavailable": 1, "selector": { "matchLabels": labels(shop, part) } } }))
}
