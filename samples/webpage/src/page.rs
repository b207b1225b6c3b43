//! The custom resource.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of the page, and its visibility.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "sample.operator-core.io",
    version = "v1",
    kind = "WebPage",
    namespaced,
    status = "WebPageStatus",
    shortname = "page",
    printcolumn = r#"{"name": "Ready", "type": "boolean", "jsonPath": ".status.ready"}"#,
    printcolumn = r#"{"name": "Error", "type": "string", "jsonPath": ".status.errorMessage"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct WebPageSpec {
    /// The html that is served at `/`. Html that contains the word "error" is refused.
    pub html: String,
    /// Whether an ingress makes the page reachable from outside of the cluster.
    #[serde(default)]
    pub exposed: bool,
}

/// The state of the page.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct WebPageStatus {
    /// The config map that holds the html.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html_config_map: Option<String>,
    /// Whether the page is served, in the version that the spec asks for.
    #[serde(default)]
    pub ready: bool,
    /// Why the page can't be served as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
