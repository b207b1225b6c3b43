//! A custom resource whose status has components.

use kube::CustomResource;
use operator_component::{Components, HasComponents};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_resource::{TestObject, test_object};

/// The spec of a [`Stand`].
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "components.operator-core.io",
    version = "v1",
    kind = "Stand",
    namespaced,
    status = "StandStatus"
)]
pub struct StandSpec {
    /// Any words of the test.
    pub value: String,
}

/// The status of a [`Stand`].
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct StandStatus {
    /// Its conditions.
    #[serde(flatten)]
    pub components: Components,
}

impl HasComponents for StandStatus {
    fn components(&self) -> &Components {
        &self.components
    }
}

test_object!(Stand, StandSpec);
