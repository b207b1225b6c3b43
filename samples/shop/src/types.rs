//! The kind: what a user writes, and what the operator reports.

use kube::CustomResource;
use operator_component::{Components, HasComponents};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A shop: a database, a migration for each version, an API, and metrics.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "sample.operator-core.io",
    version = "v1",
    kind = "Shop",
    namespaced,
    status = "ShopStatus",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ShopSpec {
    /// The version of the shop, such as `1.9.0`. Metrics are exported from 1.8 on.
    pub version: String,
    /// The tag of the images of API and exporter; by default the version.
    pub image: Option<String>,
    /// How many pods serve the API. A shop's licence has a quota of them.
    #[schemars(range(min = 1, max = 99))]
    pub replicas: i32,
    /// Whether nothing of it runs; its data stay.
    #[serde(default)]
    pub suspended: bool,
    /// Whether metrics are exported.
    #[serde(default)]
    pub metrics: bool,
}

/// The state of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ShopStatus {
    /// Ready, and a condition for each component.
    #[serde(flatten)]
    pub components: Components,
    /// The address of the API within the cluster.
    pub address: Option<String>,
}

impl HasComponents for ShopStatus {
    fn components(&self) -> &Components {
        &self.components
    }
}
