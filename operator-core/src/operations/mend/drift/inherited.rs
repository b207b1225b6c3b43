//! Moves what a retired field manager of ours has applied into the entry of our applies.

use std::{borrow::Cow, collections::BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Value, json};

use super::fold::union;
use crate::operations::matcher::{is_applied_by, owned_fields};

/// What becomes ours.
#[derive(Debug, PartialEq)]
pub(in crate::operations) struct Inherited {
    /// The operations of a JSON patch of `managedFields`.
    pub(in crate::operations) operations: Vec<Value>,
    /// The managers that it belonged to.
    pub(in crate::operations) from: BTreeSet<String>,
}

/// Makes what the `retired` managers have applied to these `parts` of an object, the subresources or the object itself,
/// a part of what `manager` applies, like client-go's `csaupgrade`; `None` if there is nothing to do. `managed` is the
/// whole `managedFields` of the object to be patched.
///
/// The server distinguishes appliers only by manager and subresource, so the result must never contain two entries of
/// ours: the first one only changes its manager, unless there is one of ours, and the others are added to it. Sets of
/// different API versions can't be added, because their fields may have other names: such an entry stays.
pub(in crate::operations) fn inherited(
    managed: &[ManagedFieldsEntry],
    manager: &str,
    retired: &[String],
    parts: &[Option<&str>],
) -> Option<Inherited> {
    let path = |at: usize, below: &str| format!("/metadata/managedFields/{at}{below}");
    let (mut changes, mut removed, mut from) = (Vec::new(), Vec::new(), BTreeSet::new());
    for part in parts {
        let is_retired =
            |entry: &ManagedFieldsEntry| retired.iter().find(|retired| is_applied_by(entry, retired, *part));
        let mut ours = managed.iter().position(|entry| is_applied_by(entry, manager, *part));
        let mut all = None;
        for (at, entry) in managed.iter().enumerate() {
            let Some(by) = is_retired(entry) else { continue };
            match ours {
                None => {
                    changes.push(json!({ "op": "replace", "path": path(at, "/manager"), "value": manager }));
                    ours = Some(at);
                }
                Some(ours) if managed[ours].api_version == entry.api_version => {
                    let Some(theirs) = owned_fields(entry) else { continue };
                    let known = all.take().or_else(|| owned_fields(&managed[ours]).map(Cow::into_owned));
                    let Some(known) = known else { continue };
                    all = Some(union(&known, &theirs));
                    removed.push(at);
                }
                Some(_) => continue,
            }
            from.insert(by.clone());
        }
        if let (Some(ours), Some(all)) = (ours, all) {
            changes.push(json!({ "op": "replace", "path": path(ours, "/fieldsV1"), "value": all }));
        }
    }
    // The last ones first: each removal changes the places of those behind it.
    removed.sort_unstable();
    changes.extend(removed.into_iter().rev().map(|at| json!({ "op": "remove", "path": path(at, "") })));
    (!changes.is_empty()).then_some(Inherited { operations: changes, from })
}
