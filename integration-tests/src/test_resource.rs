//! The custom resource of the conformance tests.

use kube::CustomResourceExt;
use operator_core::resource::KubeObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A custom resource made by [`test_resource!`](crate::test_resource!).
pub trait TestObject: KubeObject<DynamicType = ()> + CustomResourceExt {
    /// An object of that name whose spec holds `value`.
    fn named(name: &str, value: &str) -> Self;

    /// What its spec holds.
    fn value(&self) -> &str;
}

/// Declares `TestResource`, with `spec.value` and a [`TestStatus`], in an API group of the calling test's own.
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
