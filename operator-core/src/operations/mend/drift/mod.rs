//! Drift that an apply can't undo: others have changed an object in such a way that the server refuses our apply as
//! invalid (422).
//!
//! A list with keys is merged item by item. A user who changes the port of our Service from 80 to 81 creates an item of
//! their own: an apply of 80 adds ours beside it, and two ports with the same name are refused forever. The same holds
//! for a second kind of source in a volume, a value beside our `valueFrom`, or another handler beside that of our
//! probe.
//!
//! ```text
//! causes of the 422 ── refusal ──▶ path ── follow ──▶ Trail: whose is each item on the way, in the list as the server merged it?
//!                                                       │ culprits
//!                                                       ▼
//!                       JSON patch ◀── operations ── what is theirs and cited, and what of ours takes its place
//! ```
//!
//! After the patch we own the places twice: by the patch, as an `Update`, and by the apply that follows. [`folded`]
//! moves what the patch has added into the `Apply`, so that a later apply that no longer wants it removes it.
//!
//! # Guarantees
//! - What is ours is decided by keys and managed fields of the live object. An item of others is removed only if a
//!   cause cites it, or if it has the same value as an item of ours that must be the only one.
//! - If the causes cite a list and none of these, all items of others in that list are removed, and the patch contains
//!   ours in full: the server refuses it if it had another reason than the items of others.
//! - What can't be changed at all, according to the server, is not touched.
//!
//! # Assumptions
//! - The causes count items as the server merges them (seen on 1.36): what is live, in its order, with ours inserted
//!   before the item that follows it in both, and without what the apply itself removes.
//! - A port without a protocol uses TCP; no other key has a default.

mod culprits;
mod fold;
mod items;
mod merged;
mod operations;
mod place;
mod refusal;
mod trail;

#[cfg(test)]
mod tests;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::core::Status;
use serde_json::Value;

pub(in crate::operations) use fold::folded;
pub(in crate::operations) use refusal::{IMMUTABLE, is_immutable, says_immutable};

use self::{culprits::Culprits, place::Place, refusal::Cause};

/// What others have written into an object so that our apply is refused.
#[derive(Debug, Default, PartialEq)]
pub(in crate::operations) struct Drift {
    /// The operations of a JSON patch of the live object after which an apply should succeed; none if they can't be
    /// determined.
    pub(in crate::operations) operations: Vec<Value>,
    /// What is in the way, and who has written it: paths in the live object, never a value.
    pub(in crate::operations) theirs: Vec<Theirs>,
}

/// A place in the live object, and the others that have written there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::operations) struct Theirs {
    path: String,
    managers: Vec<String>,
}

impl std::fmt::Display for Theirs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.managers[..] {
            [] => write!(f, "{} (no one else's)", self.path),
            managers => write!(f, "{} ({})", self.path, managers.join(", ")),
        }
    }
}

/// What blocks an apply of `desired` by `manager`, which was refused with `status`, in the `live` object, whose managed
/// fields are complete.
pub(in crate::operations) fn drift(
    desired: &Value,
    live: &Value,
    managed: &[ManagedFieldsEntry],
    manager: &str,
    status: &Status,
) -> Drift {
    let sets = place::sets(managed, manager);
    let root = Place::root(desired, live, &sets);
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes: Vec<_> = causes.filter_map(Cause::of).collect();
    let culprits = Culprits::of(&root, &causes);
    let operations =
        if refusal::is_partly_immutable(status) { Vec::new() } else { operations::of(&culprits) };
    let mut theirs = culprits.theirs();
    theirs.sort();
    theirs.dedup();
    Drift { operations, theirs }
}
