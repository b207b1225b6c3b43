//! Drift that an apply can't undo: what others have put into an object so that the server refuses ours as invalid (422).
//!
//! A list with keys is merged item by item. Whoever changes the port of our Service from 80 to 81 has made an item of their own:
//! an apply of 80 adds ours beside it, and two ports of one name are refused for ever. So is a second kind of source in a volume,
//! a value beside our `valueFrom`, or another handler beside that of our probe.
//!
//! ```text
//! causes of the 422 ── refusal ──▶ path ── follow ──▶ Trail: whose is each item on the way, in the list as the server merged it?
//!                                                       │ culprits
//!                                                       ▼
//!                       JSON patch ◀── operations ── what is theirs and cited, and what of ours takes its place
//! ```
//!
//! After the patch the places are ours twice: by the patch, as an `Update`, and by the apply that follows. [`folded`] moves what the
//! patch has brought into the `Apply`, so that a later apply that doesn't want it any more takes it away.
//!
//! # Guarantees
//! - What is ours to say is decided by keys and managed fields of the live object. An item of others goes only where a cause
//!   cites it, or an item of ours that has the same value where it must be the only one.
//! - Where the causes cite a list and none of these, all items of others in that list go, and the patch has ours in full: the
//!   server refuses it if others were not what it minded.
//! - What the server says can't be changed at all is not touched.
//!
//! # Assumptions
//! - The causes count items as the server merges them (seen on 1.36): what is live, in its order, with ours put in before
//!   the item that follows it in both, and without what the apply itself takes away.
//! - A port without a protocol has TCP; no other key has a default.

mod culprits;
mod fold;
mod inherited;
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

pub(super) use fold::folded;
pub(super) use inherited::{Inherited, inherited};
pub(super) use refusal::{IMMUTABLE, is_immutable, says_immutable};

use self::{culprits::Culprits, place::Place, refusal::Cause};

/// What others have put into an object so that our apply is refused.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Drift {
    /// The operations of a JSON patch of the live object after which an apply should succeed; none where it can't be told.
    pub(super) operations: Vec<Value>,
    /// What is in the way, and whose it is: paths in the live object, never a value.
    pub(super) theirs: Vec<Theirs>,
}

/// A place in the live object, and who else has written there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Theirs {
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

/// What is in the way of an apply of `desired` by `manager`, which was refused with `status`, in the `live` object, whose managed
/// fields are complete.
pub(super) fn drift(
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
