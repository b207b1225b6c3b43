//! The part of a status that a bundle keeps. Plain data.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_core::status::conditions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of a status that a [`Bundle`](super::Bundle) keeps; it is flattened into the status:
///
/// ```
/// use operator_component::{BundleStatus, HasBundle};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
/// #[serde(rename_all = "camelCase", default)]
/// struct AddOnStatus {
///     #[serde(flatten)]
///     bundle: BundleStatus,
/// }
///
/// impl HasBundle for AddOnStatus {
///     fn bundle(&self) -> &BundleStatus {
///         &self.bundle
///     }
/// }
/// ```
///
/// Its size depends on the number of kinds, and on [`Bundle::inventory`](super::Bundle::inventory), not on the number of objects.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BundleStatus {
    /// The conditions of the run; `Ready` is that of the bundle.
    #[schemars(schema_with = "conditions::list_map")]
    pub conditions: Vec<Condition>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<BundleState>,
    /// The generation of the primary that the status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The last generation that was applied completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_generation: Option<i64>,
    /// When this was written, in RFC 3339. It is never the only reason to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_observed_at: Option<String>,
    /// When it was applied completely, after a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_at: Option<String>,
    /// Of the component, its references and its manifests, as far as they are being brought about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_digest: Option<String>,
    /// Since when that is so. The timeout counts from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_since: Option<String>,
    /// The digest that was applied completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_processing_digest: Option<String>,
    /// How often another content was begun: 1 is the installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    /// The objects.
    #[serde(skip_serializing_if = "Inventory::is_empty")]
    pub inventory: Inventory,
}

impl BundleStatus {
    /// The revision that this digest has or gets.
    pub(super) fn revision_of(&self, digest: &str) -> i64 {
        let revision = self.revision.unwrap_or(0);
        let is_known = |known: &Option<String>| known.as_deref() == Some(digest);
        match is_known(&self.processing_digest) || is_known(&self.last_processing_digest) {
            true => revision,
            false => revision + 1,
        }
    }
}

/// How far a bundle is.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleState {
    /// Nothing is done yet, it is suspended, or it waits to be tried again.
    Pending,
    /// It is being brought about.
    Processing,
    /// All of it is there, and ready.
    Ready,
    /// A run failed, or the time is over.
    Error,
    /// It is being deleted.
    Deleting,
    /// Its deletion waits to be tried again.
    DeletionPending,
}

/// The objects of a bundle, counted.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Inventory {
    /// By kind, as in `Deployment.apps`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, Count>,
    /// Some of them, those that aren't ready first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<InventoryItem>,
}

impl Inventory {
    fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.objects.is_empty()
    }
}

/// How many objects of a kind there are.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Count {
    /// All of them.
    pub total: u32,
    /// Those that are ready.
    pub ready: u32,
}

/// One object.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct InventoryItem {
    /// Its kind, as in `Deployment.apps`.
    pub kind: String,
    /// Its namespace, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Why it isn't ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unready: Option<String>,
}

/// A status that has a [`BundleStatus`].
#[diagnostic::on_unimplemented(
    message = "the status `{Self}` has no bundle",
    label = "this status keeps no state of a bundle",
    note = "add `#[serde(flatten)] bundle: BundleStatus` to it, and `impl HasBundle for {Self}` that returns this field"
)]
pub trait HasBundle {
    /// What was stored.
    fn bundle(&self) -> &BundleStatus;
}
