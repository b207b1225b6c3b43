//! The custom resources of the tests. Each type costs a copy of everything that is generic over a primary, therefore
//! tests share them.

use std::{cell::Cell, collections::BTreeMap};

use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    CustomResource, CustomResourceExt,
    core::crd::{MergeError, merge_crds},
};
use operator_core::resource::KubeObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The API group of [`TestResource`] and [`ClusterTestResource`].
pub const GROUP: &str = "conformance.operator-core.io";

thread_local! {
    static MESSAGES: Cell<usize> = const { Cell::new(0) };
}

/// How many statuses with a message this thread has turned into JSON since the last query: to be written, and to be
/// compared.
#[must_use]
pub fn statuses_serialized() -> usize {
    MESSAGES.take()
}

fn counted<S: Serializer>(message: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    MESSAGES.set(MESSAGES.get() + 1);
    message.serialize(serializer)
}

/// The status of every test resource.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TestStatus {
    /// Any text of the test.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "counted")]
    pub message: Option<String>,
    /// Any texts of the test, one for each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The conditions, as a list that is written as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The observed generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The id of a record in another system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_id: Option<String>,
    /// The ids of several, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub record_ids: BTreeMap<String, String>,
    /// A field that the definition doesn't have: the server drops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub dropped_id: Option<String>,
    /// A field that is a number in the definition: the server refuses an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub refused_id: Option<String>,
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
    /// Any value of the test.
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
    /// Any value of the test.
    pub value: String,
}

/// The spec of a [`LateTestResource`].
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "late.conformance.operator-core.io",
    version = "v1",
    kind = "LateTestResource",
    namespaced,
    status = "TestStatus"
)]
pub struct LateTestResourceSpec {
    /// Any value of the test.
    pub value: String,
}

/// The spec of a [`LateTestResource`] in its version `v2`, where the value is a number.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "late.conformance.operator-core.io",
    version = "v2",
    kind = "LateTestResource",
    root = "NumberedTestResource",
    namespaced,
    status = "TestStatus"
)]
pub struct NumberedTestResourceSpec {
    /// Any value of the test.
    pub value: i32,
}

/// The definition of [`LateTestResource`] with both versions, of which `storage` is stored. Nothing converts between
/// them: a number stays a number when it is read as `v1`.
///
/// # Errors
/// When there is no such version.
pub fn late_in_two_versions(storage: &str) -> Result<CustomResourceDefinition, MergeError> {
    merge_crds(vec![LateTestResource::crd(), NumberedTestResource::crd()], storage)
}

/// The definitions that all clusters of tests have; that of [`LateTestResource`] isn't among them.
pub(crate) fn shared_crds() -> [CustomResourceDefinition; 2] {
    [TestResource::crd(), ClusterTestResource::crd()]
}

/// A custom resource of the tests: with a value in its spec and a [`TestStatus`].
pub trait TestObject: KubeObject<DynamicType = ()> + CustomResourceExt {
    /// An object of that name whose spec holds `value`.
    fn named(name: &str, value: &str) -> Self;

    /// The value in its spec.
    fn value(&self) -> &str;
}

macro_rules! test_object {
    ($resource:ident, $spec:ident) => {
        impl TestObject for $resource {
            fn named(name: &str, value: &str) -> Self {
                Self::new(name, $spec { value: value.to_owned() })
            }

            fn value(&self) -> &str {
                &self.spec.value
            }
        }
    };
}

pub(crate) use test_object;

test_object!(TestResource, TestResourceSpec);
test_object!(ClusterTestResource, ClusterTestResourceSpec);
test_object!(LateTestResource, LateTestResourceSpec);
