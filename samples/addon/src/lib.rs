//! Add-ons: some 60 objects of 12 kinds, made of the templates in `templates/`, as one node of a workflow.
//!
//! ```text
//!   wave 0: the definition of Channels, accounts, roles, settings, tokens, a network policy; then three Channels
//!   wave 1: a Job that migrates to the version, and is deleted when it has succeeded
//!   wave 2: for each server a Deployment, a Service and a budget
//! ```

mod bench;

use kube::CustomResource;
use operator_component::{
    Bundle, BundleStatus, HasBundle, bundle,
    generator::{Generator as _, RenderContext},
    templates,
};
use operator_core::{BoxError, prelude::*};
use rand::distr::{Alphanumeric, SampleString};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use bench::{RBAC, workbench};

/// An add-on: seven servers that greet, and the kind of the channels on which they do.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "sample.operator-core.io", version = "v1", kind = "AddOn", plural = "addons", namespaced)]
#[kube(status = "AddOnStatus", printcolumn(name = "State", type_ = "string", json_path = ".status.state"))]
pub struct AddOnSpec {
    /// The version of the add-on, such as `1.4.0`. From 2.0.0 on other servers belong to it.
    #[schemars(regex(pattern = r"^\d+\.\d+\.\d+$"))]
    pub version: String,
    /// How many pods each server has.
    #[schemars(range(min = 1, max = 99))]
    pub replicas: i32,
    /// What the servers say.
    pub greeting: String,
}

/// The state of an add-on.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(default)]
pub struct AddOnStatus {
    /// How far it is, and its objects.
    #[serde(flatten)]
    pub bundle: BundleStatus,
}

impl HasBundle for AddOnStatus {
    fn bundle(&self) -> &BundleStatus {
        &self.bundle
    }
}

// ANCHOR: operator
/// Of which kinds its objects are: the operator's role has the rights for them.
const KINDS: [(&str, &str); 12] = [
    ("addon.sample.operator-core.io/v1", "Channel"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
];

/// What the templates take: the spec, and a password for Secrets that don't exist yet.
fn parameters(cx: &RenderContext<'_, AddOn>) -> Result<Value, BoxError> {
    let mut parameters = cx.parameters().clone();
    parameters["password"] = Alphanumeric.sample_string(&mut rand::rng(), 32).into();
    Ok(parameters)
}

fn addon() -> Bundle<AddOn> {
    bundle("addon", templates!("templates").map_parameters(parameters))
}

fn status(primary: &AddOn, run: &Run<AddOn>) -> AddOnStatus {
    AddOnStatus { bundle: addon().of(primary, run) }
}

/// The controller.
pub fn controller() -> ControllerBuilder<impl Reconciler<Primary = AddOn>> {
    Controller::of::<AddOn>().name("addon-operator").workflow((addon().node().kinds(KINDS),)).status(status)
}

/// The operator.
pub fn operator() -> OperatorBuilder {
    Operator::builder().register(controller())
}
// ANCHOR_END: operator
