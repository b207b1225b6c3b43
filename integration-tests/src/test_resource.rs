//! The custom resources of the tests: two that all of them share, and a macro for tests about a definition of their own.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt};
use operator_core::resource::KubeObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The API group of the shared types.
pub const GROUP: &str = "conformance.operator-core.io";

/// The status of every test resource.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TestStatus {
    /// Whatever the test has to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whatever the test has to say, one for each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The generation that the status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// The spec of a [`TestResource`].
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "conformance.operator-core.io",
    version = "v1",
    kind = "TestResource",
    namespaced,
    status = "TestStatus"
)]
pub struct TestResourceSpec {
    /// Whatever the test needs.
    pub value: String,
}

/// The spec of a [`ClusterTestResource`].
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "conformance.operator-core.io",
    version = "v1",
    kind = "ClusterTestResource",
    status = "TestStatus"
)]
pub struct ClusterTestResourceSpec {
    /// Whatever the test needs.
    pub value: String,
}

/// The definitions of the shared types.
#[must_use]
pub fn shared_crds() -> [CustomResourceDefinition; 2] {
    [TestResource::crd(), ClusterTestResource::crd()]
}

/// A custom resource of the tests: with a value in its spec and a [`TestStatus`].
pub trait TestObject: KubeObject<DynamicType = ()> + CustomResourceExt {
    /// An object of that name whose spec holds `value`.
    fn named(name: &str, value: &str) -> Self;

    /// What its spec holds.
    fn value(&self) -> &str;
}

impl TestObject for TestResource {
    fn named(name: &str, value: &str) -> Self {
        Self::new(name, TestResourceSpec { value: value.to_owned() })
    }

    fn value(&self) -> &str {
        &self.spec.value
    }
}

impl TestObject for ClusterTestResource {
    fn named(name: &str, value: &str) -> Self {
        Self::new(name, ClusterTestResourceSpec { value: value.to_owned() })
    }

    fn value(&self) -> &str {
        &self.spec.value
    }
}

/// Declares another `TestResource`, in an API group of the calling test's own: for tests that change a definition, or
/// begin without it. Each one costs a copy of all that is generic over the primary; other tests share [`TestResource`].
#[macro_export]
macro_rules! test_resource {
    ($group:literal $(, $attribute:meta)*) => {
        /// The spec of this test's resource.
        #[derive(
            ::kube::CustomResource,
            ::serde::Serialize,
            ::serde::Deserialize,
            ::schemars::JsonSchema,
            Clone,
            Debug,
        )]
        #[kube(
            group = $group,
            version = "v1",
            kind = "TestResource",
            status = "::integration_tests::TestStatus"
            $(, $attribute)*
        )]
        pub struct TestResourceSpec {
            /// Whatever the test needs.
            pub value: String,
        }

        impl ::integration_tests::TestObject for TestResource {
            fn named(name: &str, value: &str) -> Self {
                Self::new(name, TestResourceSpec { value: value.to_owned() })
            }

            fn value(&self) -> &str {
                &self.spec.value
            }
        }
    };
}
