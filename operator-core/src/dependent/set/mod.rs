//! Dependents with objects of several kinds: what is installed together, in order, and pruned.
//!
//! ```text
//! function ─▶ Objects ─▶ kinds: where are they served? ─▶ the primary's annotation names them ─▶ sources are claimed
//!     │
//!     └▶ stages: apply all of one ─▶ is all of it ready? ─ yes ─▶ the next ─▶ … ─▶ what isn't wanted any more goes
//!                                         └ no ─▶ the rest waits
//! ```
//!
//! # Guarantees
//! - Before the first object of a kind is sent, the primary names the kind: a new process knows what to follow, and what was
//!   made is found again although the function has forgotten it.
//! - Nothing of a later stage is sent before everything of the one before was seen ready.
//! - Only the marks on an object say that it is the node's; a kind's name on the primary removes nothing.
//! - A source of a kind runs while a node of a primary names the kind.
//!
//! # Assumptions
//! - The function is pure, as that of every node.

mod act;
mod declared;
mod done;
mod engine;
mod faults;
mod followed;
mod former;
mod going;
mod kinds;
pub(crate) mod objects;
mod policies;
mod progress;
mod removal;
#[cfg(test)]
mod samples_tests;
mod stages;
mod told;
mod wanted;
mod yaml;

pub(crate) use declared::{SetWords, declare_set};
pub(crate) use former::FormerSets;
