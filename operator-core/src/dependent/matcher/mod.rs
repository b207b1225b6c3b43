//! Whether a dependent is as desired, and what is sent if it is not.
//!
//! ```text
//!                         ┌ applied:  matches_applied ─┐            as the server spells it
//! desired, actual ─ Matcher                            ├─ sanitize ─ same quantity, default, dropped zero
//!                         ├ replaced: GenericMatcher ──┘
//!                         └ Custom
//! ```
//!
//! Everything here is a function of JSON values: no request, no clock. A difference is reported as paths, never as
//! values, so it is safe for a log even if the object is a Secret.
//!
//! # Guarantees
//! - An object that was applied, as the server has stored it, matches what was applied, as far as its managed fields
//!   and what is known about its kind allow. The exceptions are listed at [`matches_applied`].
//! - With server-side apply, anything desired that has changed no longer matches, and neither does anything that is no
//!   longer desired.
//!
//! # Assumptions
//! - The desired object names its `apiVersion` and `kind`: quantities and defaults are known by kind.

pub(crate) mod configured;
mod generic;
mod ignored;
pub(crate) mod merge;
mod sanitize;
pub(crate) mod ssa;
mod tolerant;

#[cfg(test)]
mod tests;

pub use self::{
    configured::Matcher,
    generic::{Comparison, GenericMatcher},
};
pub(crate) use self::{
    configured::Written,
    merge::merged,
    ssa::{matches_applied, words_decide},
};
pub use crate::operations::matcher::Match;
