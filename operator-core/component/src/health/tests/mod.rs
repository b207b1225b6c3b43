mod grace;
mod kinds;
mod memory;
mod suspension;
pub(crate) mod table;

use jiff::Timestamp;
use operator_core::workflow::Operation;
use serde_json::{Value, json};

use super::*;

fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().expect("a time")
}

fn condition(r#type: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({ "type": r#type, "status": status, "reason": reason, "message": message })
}

/// An object of generation 1, which its controller has seen, with these parts of spec and status.
#[expect(clippy::needless_pass_by_value, reason = "literals are shorter without a borrow")]
fn object(api_version: &str, kind: &str, spec: Value, status: Value) -> Value {
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": { "name": "a", "generation": 1 },
        "spec": spec, "status": { "observedGeneration": 1 },
    });
    for (field, value) in status.as_object().expect("a status") {
        object["status"][field] = value.clone();
    }
    object
}

/// A Deployment of three replicas, of which so many are ready.
fn deployment(ready: i64) -> Value {
    let status = json!({
        "replicas": 3, "updatedReplicas": 3, "readyReplicas": ready, "availableReplicas": ready,
        "conditions": [
            condition("Progressing", "True", "NewReplicaSetAvailable", ""),
            condition("Available", "True", "", ""),
        ],
    });
    object("apps/v1", "Deployment", json!({ "replicas": 3 }), status)
}

/// The same before its first rollout has come to an end.
fn new_deployment(ready: i64) -> Value {
    let mut object = deployment(ready);
    object["status"]["conditions"] = json!([condition("Progressing", "True", "ReplicaSetUpdated", "")]);
    object
}

fn told(row: &Row) -> String {
    format!("{}: {}", row.reason, row.message)
}
