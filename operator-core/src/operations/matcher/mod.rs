//! Decides without a request whether a write would change anything.
//!
//! For a replacement and a merge patch that is a plain comparison ([`matches_replacement`], [`matches_replaced_status`],
//! [`matches_merged`]). The rest of this page is about server-side apply, [`matches_owned_fields`].
//!
//! The API server records in `metadata.managedFields` which fields each manager applied last. Restricted to those
//! fields, the actual object is what the manager applied last time, unless someone has changed it since; comparing that
//! with what the manager wants now shows whether to apply again. The desired object, the actual object and the set of
//! owned fields are walked side by side and nothing is copied, because the usual answer is "equal" and has to be cheap.
//!
//! # What counts as a difference
//! - a field that the manager owns and that has another value, or is gone from the actual object;
//! - a field that the manager owns and no longer wants;
//! - a field that the manager wants and does not own, whatever its value: applying makes it ours;
//! - a managed set that is malformed, or that names a list item that doesn't exist or exists twice.
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
//! - Managed fields don't distinguish an atomic map that was applied with content from an empty object in a mergeable
//!   place. Both are compared as a whole, so `strategy: {}` differs from what the server fills in, and costs a request
//!   (that changes nothing) each time. Leave such a field out instead. `metadata.labels` and `metadata.annotations` are
//!   known to be mergeable and don't have this problem.
//! - For the same reason an empty list that is not owned does not clear a list that someone else has filled.
//! - Values are compared literally: `1000m` is not `1`, and a default inside an atomic value (`fieldRef.apiVersion`) is
//!   a difference. `Walk::value` is the only place where two values are compared (except for keys and members of sets,
//!   which identify an item); it knows the path and both values, so sanitizers belong there, to be called only after
//!   the plain comparison has failed.
//! - An object that owns nothing at all has no entry, because the server drops empty ones: it is
//!   [`Match::NeverApplied`] each time.

mod beside;
mod digest;
mod fingerprint;
mod index;
mod item_key;
mod lists;
mod path;
mod replacement;
mod value;
mod walk;

pub(in crate::operations) mod seen;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::Value;

use walk::{Object, Walk};

pub(crate) use self::{
    beside::{Look, look_beside},
    digest::digest,
    fingerprint::fingerprint,
};
pub(crate) use self::{
    path::Path,
    value::{present, same_number},
};
pub(crate) use replacement::{matches_merged, matches_replaced_status, matches_replacement};
pub(crate) use value::strip_nulls;

/// The maximum number of paths in [`Match::Differs`]: enough to see what happens, and a bound on the work.
pub(crate) const MAX_PATHS: usize = 8;

/// Where the set of owned fields is stored, and so the path of a difference that is in the set and not in a field.
const MANAGED_FIELDS: &str = "metadata.managedFields";

/// The result of [`matches_owned_fields`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Match {
    /// Applying again would change nothing.
    Equal,
    /// Applying would change something. The paths (`spec.template.spec.containers[0].image`) show where, at most eight
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
    /// Whether applying can be left out.
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
    let mut entries = managed.iter().filter(|entry| is_applied_by(entry, manager, subresource));
    let Some(entry) = entries.next() else { return Match::NeverApplied };
    if entries.next().is_some() {
        return Match::Differs(vec![MANAGED_FIELDS.to_owned()]);
    }
    let Some(owned) = owned_fields(entry) else { return Match::Differs(vec![MANAGED_FIELDS.to_owned()]) };
    if let (Some(wanted), Some(recorded)) =
        (desired.get("apiVersion").and_then(Value::as_str), entry.api_version.as_deref())
        && wanted != recorded
    {
        return Match::Differs(vec!["apiVersion".to_owned()]);
    }

    let mut walk = Walk::default();
    if subresource == Some("status") {
        walk.status(desired, actual, &owned);
    } else {
        walk.object(desired, actual, &owned);
    }
    let paths = walk.into_paths();
    if paths.is_empty() { Match::Equal } else { Match::Differs(paths) }
}

/// Whether `manager` still owns exactly the fields of `desired`, which it has applied. Values don't matter: a field that
/// somebody else changes leaves the set of the manager that had applied it.
pub(crate) fn owns_as_applied(desired: &Value, managed: &[ManagedFieldsEntry], manager: &str) -> Match {
    let mut entries = managed.iter().filter(|entry| is_applied_by(entry, manager, None));
    let Some(entry) = entries.next() else { return Match::NeverApplied };
    let version = desired["apiVersion"].as_str();
    let is_same_version = version.is_none() || entry.api_version.as_deref().is_none_or(|of| Some(of) == version);
    match owned_fields(entry).filter(|_| is_same_version && entries.next().is_none()) {
        Some(owned) => {
            let mut walk = Walk { ownership_only: true, ..Walk::default() };
            walk.object(desired, desired, &owned);
            let paths = walk.into_paths();
            if paths.is_empty() { Match::Equal } else { Match::Differs(paths) }
        }
        None => Match::Differs(vec![MANAGED_FIELDS.to_owned()]),
    }
}

/// The set of owned fields that an entry records, as a tree or as text.
pub(crate) fn owned_fields(entry: &ManagedFieldsEntry) -> Option<Cow<'_, Object>> {
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
