//! What is decided about a refusal; the causes are those of a real kube-apiserver 1.36.

mod drift;
mod fold;
mod take;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::core::Status;
use serde_json::{Value, json};

use super::drift::{Drift, drift};

const US: &str = "us";

/// An entry of the managed fields.
fn entry(manager: &str, operation: &str, fields: &Value) -> ManagedFieldsEntry {
    let entry = json!({ "manager": manager, "operation": operation, "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": fields });
    serde_json::from_value(entry).expect("an entry")
}

/// A refusal with these causes: fields and reasons.
fn refusal(causes: &[(&str, &str)]) -> Status {
    let cause = |(field, reason): &(&str, &str)| json!({ "field": field, "reason": reason, "message": "…" });
    let causes: Vec<_> = causes.iter().map(cause).collect();
    let status = json!({ "code": 422, "reason": "Invalid", "message": "…", "details": { "causes": causes } });
    serde_json::from_value(status).expect("a status")
}

/// What is decided where `live` was written by `entries`.
fn decided(desired: &Value, live: &Value, entries: &[ManagedFieldsEntry], causes: &[(&str, &str)]) -> Drift {
    drift(desired, live, entries, US, &refusal(causes))
}

/// The decision in short: its operations, and whose it is.
fn shown(drift: &Drift) -> (Vec<String>, Vec<String>) {
    let text = |value: &Value| value.to_string().replace('"', "");
    let operations = drift.operations.iter().map(|one| {
        let value = one.get("value").map(text).unwrap_or_default();
        format!("{} {} {value}", text(&one["op"]), text(&one["path"])).trim_end().to_owned()
    });
    (operations.collect(), drift.theirs.iter().map(ToString::to_string).collect())
}

/// The managed set of ports.
fn ports(numbers: &[u16]) -> Value {
    let port = |number: &u16| {
        let fields = json!({ ".": {}, "f:name": {}, "f:port": {} });
        (format!("k:{{\"port\":{number},\"protocol\":\"TCP\"}}"), fields)
    };
    let ports: serde_json::Map<_, _> = numbers.iter().map(port).collect();
    if ports.is_empty() {
        json!({ "f:spec": { "f:selector": {} } })
    } else {
        json!({ "f:spec": { "f:ports": ports } })
    }
}
