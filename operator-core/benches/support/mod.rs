//! What the benches share.
//!
//! No bench asserts a time. Each prints the budget of the architecture page that its numbers are compared with, for
//! somebody to look at; on a shared machine only ratios within one run mean something.

#![allow(dead_code, reason = "each bench is a binary of its own and uses a part of this")]
#![allow(clippy::print_stdout, reason = "it is what a bench is for")]

use serde_json::{Map, Value, json};

/// Says what the numbers that follow are compared with.
pub(crate) fn budget(text: &str) {
    println!("\nbudget: {text}");
}

/// Says what was measured beside the budget.
pub(crate) fn measured(text: &str) {
    println!("measured: {text}");
}

/// Who applies the objects of the benches.
pub(crate) const MANAGER: &str = "bench";

/// A deployment as a controller wants it, with so many environment variables.
pub(crate) fn desired(name: &str, variables: usize) -> Value {
    let env: Vec<Value> = (0..variables)
        .map(|number| json!({ "name": format!("VARIABLE_{number}"), "value": format!("value of variable {number}") }))
        .collect();
    let labels = json!({ "app.kubernetes.io/name": "web", "app.kubernetes.io/instance": name });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name, "namespace": "shop", "labels": labels },
        "spec": {
            "replicas": 3,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{
                    "name": "web",
                    "image": "registry.example.com/shop/web:1.2.3",
                    "ports": [{ "containerPort": 8080, "protocol": "TCP" }],
                    "resources": { "limits": { "cpu": "500m", "memory": "256Mi" } },
                    "env": env,
                }] },
            },
        },
    })
}

/// The same as the server shows it: with defaults, a status, and what was applied.
pub(crate) fn actual(name: &str, variables: usize, version: u64) -> Value {
    let wanted = desired(name, variables);
    let mut object = wanted.clone();
    let metadata = &mut object["metadata"];
    metadata["uid"] = json!(format!("1f0a7c3e-55aa-4d2b-9d0e-{version:012}"));
    metadata["resourceVersion"] = json!(version.to_string());
    metadata["generation"] = json!(1);
    metadata["creationTimestamp"] = json!("2026-11-21T12:00:00Z");
    metadata["managedFields"] = json!([{
        "manager": MANAGER, "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-11-21T12:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": applied_fields(&wanted),
    }, {
        "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "apps/v1",
        "time": "2026-11-21T12:00:01Z", "fieldsType": "FieldsV1", "subresource": "status",
        "fieldsV1": { "f:status": { "f:replicas": {}, "f:readyReplicas": {}, "f:observedGeneration": {} } },
    }]);
    let spec = &mut object["spec"];
    spec["revisionHistoryLimit"] = json!(10);
    spec["progressDeadlineSeconds"] = json!(600);
    let pod = &mut spec["template"]["spec"];
    pod["restartPolicy"] = json!("Always");
    pod["dnsPolicy"] = json!("ClusterFirst");
    pod["terminationGracePeriodSeconds"] = json!(30);
    pod["containers"][0]["imagePullPolicy"] = json!("IfNotPresent");
    object["status"] = json!({ "replicas": 3, "readyReplicas": 3, "observedGeneration": 1 });
    object
}

/// What the server records as owned after `wanted` was applied.
fn applied_fields(wanted: &Value) -> Value {
    let mut fields = owned(wanted);
    let root = fields.as_object_mut().expect("an object owns a map of fields");
    for untracked in ["f:apiVersion", "f:kind"] {
        root.remove(untracked);
    }
    let metadata = root["f:metadata"].as_object_mut().expect("metadata is an object");
    for untracked in ["f:name", "f:namespace"] {
        metadata.remove(untracked);
    }
    fields
}

fn owned(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (format!("f:{name}"), owned(field)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(owned_item).collect::<Map<_, _>>().into(),
        _ => json!({}),
    }
}

/// An item of a list with keys: containers and variables have a name, ports a number and a protocol.
fn owned_item(item: &Value) -> (String, Value) {
    let keys: &[&str] =
        if item.get("containerPort").is_some() { &["containerPort", "protocol"] } else { &["name"] };
    let key: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), item[*key].clone())).collect();
    let mut fields = owned(item);
    fields["."] = json!({});
    (format!("k:{}", Value::Object(key)), fields)
}
