//! Decides without a request whether a write would change anything. Pure, except for [`Seen`], which remembers.
//!
//! ```text
//!  a dependent that is applied    digest in the object's mark, and what is still owned   `digest`, `fields`
//!  another apply, a status        what is owned, and its values                          `fields`
//!  a dependent that is replaced   values, as the server spells them                      `generic`, `sanitize`
//!  another PUT, a merge patch     values                                                 `values`
//! ```
//!
//! Most states of an object have been compared with the same desired state before; [`Seen`] remembers that, and then
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

mod digest;
mod fields;
mod generic;
mod quantity;
mod sanitize;
mod values;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    digest::{Desired, Seen, digest, fingerprint, same_values},
    fields::{Part, is_applied_by, owned_fields},
    values::{matches_merged, matches_replaced_status, matches_replacement, strip_nulls},
};
pub use self::{
    fields::{Match, matches_owned_fields, still_owned},
    generic::{Comparison, GenericMatcher, Matcher},
    values::merged,
};
