//! Decides without a request whether a write would change anything. Pure, except for [`seen`], which remembers.
//!
//! ```text
//!  a dependent that is applied    digest in the object's mark, and what is still owned   `digest`, `fields`
//!  another apply, a status        what is owned, and its values                          `fields`
//!  a dependent that is replaced   values, as the server spells them                      `generic`, `sanitize`
//!  another PUT, a merge patch     values                                                 `replacement`
//! ```
//!
//! Most states of an object have been compared with the same desired state before; [`seen`] remembers that, and then
//! nothing is built.
//!
//! A difference is reported as paths, never as values, so it is safe for a log even if the object is a Secret.
//!
//! # What was applied
//! The API server records in `metadata.managedFields` which fields each manager applied last. A field that another
//! manager changes leaves the set of the one that had applied it. So if what is desired is what was applied last, and
//! each of its fields is still owned, applying it again would change nothing, whatever the values are today: defaults
//! in lists, other spellings of quantities, and what a webhook makes of it, make no difference. What was applied last
//! says the [`digest`] in the object itself.
//!
//! An object of which no digest is known (one that user code applies, a primary, a status) is compared by the values of
//! the owned fields, too. The desired object, the actual object and the set are walked side by side.
//!
//! # What counts as a difference
//! - a field that the manager owns and no longer wants;
//! - a field that the manager wants and does not own, whatever its value: applying makes it ours;
//! - a managed set that is malformed, of another version, or that names a list item that doesn't exist or exists twice;
//! - if values count, an owned field that has another value, or is gone from the actual object.
//!
//! Fields of other managers and defaults of the server are ignored.
//!
//! # What does not
//! - What the API server never lets a manager own (`apiVersion`, `kind`, `metadata.name` and the like), and `status`
//!   unless the subresource is `status`: the main resource ignores it.
//! - `null` inside objects: it means absent, and [`strip_nulls`] removes it from what is sent.
//! - `1` against `1.0`.
//! - The order of items in lists with keys and in sets. The server merges such lists by key and keeps the existing
//!   order, so a change of order alone is often not even possible. JOSDK ignores it as well.
//! - Empty containers that the server drops. An empty object is recorded as owned even if it is then dropped from the
//!   object, so it is equal to an absent field once it is owned, and a difference before that: `spec.selfSigned: {}`
//!   may well have a meaning. An empty list of a mergeable kind leaves no trace at all and is always equal to an absent
//!   one.
//!
//! # Known limits
//! - What is changed under the very name of our field manager stays ours, and so goes unseen.
//! - An empty list that is not owned does not clear a list that someone else has filled.
//! - An object that owns nothing at all has no entry, because the server drops empty ones: it is
//!   [`Match::NeverApplied`] each time.
//! - Where values count, they are compared literally: `1000m` is not `1`, and a default inside an atomic value
//!   (`fieldRef.apiVersion`) is a difference, which costs a request that changes nothing each time. So does an empty
//!   object that the server fills (`strategy: {}`): managed fields don't distinguish it from an atomic map that was
//!   applied with content. `metadata.labels` and `metadata.annotations` are known to be mergeable and don't have this
//!   problem.

mod choice;
mod digest;
mod fields;
mod fingerprint;
mod generic;
mod path;
mod replacement;
mod sanitize;
pub(in crate::operations) mod seen;
mod value;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value};

use fields::Walk;

pub use self::{
    choice::Matcher,
    generic::{Comparison, GenericMatcher},
    replacement::merged,
};
pub(crate) use self::{
    digest::{digest, same_values},
    fingerprint::fingerprint,
    replacement::{matches_merged, matches_replaced_status, matches_replacement},
    value::strip_nulls,
};

/// The maximum number of paths in [`Match::Differs`]: enough to see what happens, and a bound on the work.
const MAX_PATHS: usize = 8;

/// Where the set of owned fields is stored, and so the path of a difference that is in the set and not in a field.
const MANAGED_FIELDS: &str = "metadata.managedFields";

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Match {
    /// Writing would change nothing.
    Equal,
    /// Writing would change something. The paths (`spec.template.spec.containers[0].image`) show where, at most eight
    /// of them and never with a value, so they may be logged even if the object is a Secret.
    ///
    /// Items of lists are named by their position in the desired object, or in the actual one if they are not wanted
    /// any more.
    Differs(Vec<String>),
    /// The object has no entry of an apply by this manager to this subresource: it was never applied, or it was written
    /// by other means. Applying creates the entry.
    NeverApplied,
}

impl Match {
    /// Whether writing can be left out.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        matches!(self, Self::Equal)
    }
}

/// Whether a server-side apply of `desired` by `manager` would change `actual`.
///
/// `managed` are the managed fields of `actual`; entries of other managers may have been dropped from it, and
/// `fieldsV1` may be text, as it is in the caches of this library. With `subresource` `Some("status")` only `status` is
/// compared, otherwise everything except `status`.
///
/// A set of another API version than the one of `desired` is a difference, because its fields may have other names.
/// Applying moves the entry to the new version.
///
/// There are no errors: what can't be interpreted is a [`Match::Differs`], because applying again corrects it. That
/// includes two entries for one manager and subresource, which the API server does not produce.
///
/// JOSDK: `SSABasedGenericKubernetesResourceMatcher`, which does not distinguish subresources and fails on malformed
/// sets.
pub fn matches_owned_fields(
    desired: &Value,
    actual: &Value,
    managed: &[ManagedFieldsEntry],
    manager: &str,
    subresource: Option<&str>,
) -> Match {
    walked(desired, managed, manager, subresource, |walk, owned| match subresource {
        Some("status") => walk.status(desired, actual, owned),
        _ => walk.object(desired, Some(actual), owned),
    })
}

/// Whether `manager`, which has applied `desired` to the main resource, still owns exactly its fields. The values are
/// not looked at.
pub fn still_owned(desired: &Value, managed: &[ManagedFieldsEntry], manager: &str) -> Match {
    walked(desired, managed, manager, None, |walk, owned| walk.object(desired, None, owned))
}

fn walked(
    desired: &Value,
    managed: &[ManagedFieldsEntry],
    manager: &str,
    subresource: Option<&str>,
    walk: impl FnOnce(&mut Walk, &Map<String, Value>),
) -> Match {
    let mut entries = managed.iter().filter(|entry| is_applied_by(entry, manager, subresource));
    let Some(entry) = entries.next() else { return Match::NeverApplied };
    let Some(owned) = owned_fields(entry).filter(|_| entries.next().is_none()) else {
        return Match::Differs(vec![MANAGED_FIELDS.to_owned()]);
    };
    if let (Some(wanted), Some(recorded)) =
        (desired.get("apiVersion").and_then(Value::as_str), entry.api_version.as_deref())
        && wanted != recorded
    {
        return Match::Differs(vec!["apiVersion".to_owned()]);
    }
    let mut walked = Walk::default();
    walk(&mut walked, &owned);
    walked.into_match()
}

/// The set of owned fields that an entry records, as a tree or as text.
pub(crate) fn owned_fields(entry: &ManagedFieldsEntry) -> Option<Cow<'_, Map<String, Value>>> {
    match (entry.fields_type.as_deref(), &entry.fields_v1.as_ref()?.0) {
        (None | Some("FieldsV1"), Value::Object(fields)) => Some(Cow::Borrowed(fields)),
        (None | Some("FieldsV1"), Value::String(text)) => serde_json::from_str(text).ok().map(Cow::Owned),
        _ => None,
    }
}

/// Whether an entry records an apply by this manager to this subresource. The main resource is an absent or an empty
/// name; a finalizer and a status applied by one manager are two entries.
pub(crate) fn is_applied_by(entry: &ManagedFieldsEntry, manager: &str, subresource: Option<&str>) -> bool {
    entry.manager.as_deref() == Some(manager)
        && entry.operation.as_deref() == Some("Apply")
        && entry.subresource.as_deref().unwrap_or_default() == subresource.unwrap_or_default()
}
