//! A primary whose status has a bundle, for tests of bundles.

use kube::CustomResource;
use operator_component::{BundleStatus, HasBundle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_resource::{TestObject, test_object};

/// The spec of a [`Package`].
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "bundles.operator-core.io",
    version = "v1",
    kind = "Package",
    namespaced,
    status = "PackageStatus"
)]
pub struct PackageSpec {
    /// Any words of the test.
    pub value: String,
}

/// The status of a [`Package`].
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PackageStatus {
    /// Its bundle.
    #[serde(flatten)]
    pub bundle: BundleStatus,
}

impl HasBundle for PackageStatus {
    fn bundle(&self) -> &BundleStatus {
        &self.bundle
    }
}

test_object!(Package, PackageSpec);
