//! The kind: what a user writes, and what the operator reports.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A key-value store whose members share the keys.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "sample.operator-core.io",
    version = "v1",
    kind = "Store",
    namespaced,
    status = "StoreStatus",
    scale(
        spec_replicas_path = ".spec.members",
        status_replicas_path = ".status.members",
        label_selector_path = ".status.selector"
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Members", type_ = "integer", json_path = ".status.readyMembers")
)]
#[serde(rename_all = "camelCase")]
pub struct StoreSpec {
    /// How many members share the keys.
    #[schemars(range(min = 1, max = 99))]
    pub members: i32,
    /// The tag of the store's image, such as `2.4`.
    pub version: String,
    /// Lines of the members' configuration. A change restarts the members, one after the other.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// A Secret with the key `password`. Without it, a password is generated.
    pub password_secret: Option<String>,
    /// When a backup is made, in cron's syntax; never without it.
    pub backups: Option<String>,
    /// Whether Prometheus scrapes the members, if the cluster has its operator.
    #[serde(default)]
    pub metrics: bool,
}

/// The state of a store.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct StoreStatus {
    /// How many members there are, for `kubectl scale` and autoscalers.
    #[serde(default)]
    pub members: i32,
    /// How many members serve.
    #[serde(default)]
    pub ready_members: i32,
    /// The labels of the members' pods, for autoscalers.
    pub selector: Option<String>,
    /// The generation of the spec that this status is about.
    pub observed_generation: Option<i64>,
    // ANCHOR: conditions
    /// Ready, Reconciling, Stalled and Draining.
    #[serde(default)]
    #[schemars(schema_with = "operator_core::status::conditions::list_map")]
    pub conditions: Vec<Condition>,
    // ANCHOR_END: conditions
}
