//! The owner of an object, as the object itself shows it: labels and an annotation that every dependent puts on what it
//! writes. Pure.
//!
//! ```text
//! metadata ─┬─ owner reference, or label of the owner: the primary's uid ─┐
//!           ├─ labels of controller and node ─────────────────────────────┼─▶ Whose: mine, an orphan, a former node's,
//!           ├─ annotation: a hash with the object's own name ─────────────┤         going, nobody's, foreign
//!           └─ field managers, mapping annotations ───────────────────────┘
//! ```
//!
//! # Guarantees
//! - A node removes only objects that this node of this controller has written for this very primary, under the
//!   object's own name: a copy, an object with inherited labels and one whose labels were edited have no mark that
//!   fits.
//! - Only nodes of records have anything to do with the objects that keep their ids.
//! - The same controller, node, primary and object always get the same marks, in each version of the library.
//!
//! # Assumptions
//! - Field managers are known as the caches keep them: at least those of the operator itself.

mod controller;
mod done;
mod kinds;
mod names;
mod value;
mod whose;
#[cfg(test)]
mod whose_tests;

pub(crate) use controller::{ControllerMarks, Nodes, hyphenated};
pub(crate) use done::{DoneBy, DoneJobs, fingerprint, has_succeeded, in_order, is_job};
pub(crate) use kinds::{KindName, MadeKinds};
pub use names::MarkNames;
pub(crate) use value::{digits, label_value};
pub(in crate::resource) use value::{is_label_value, is_word};
pub(crate) use whose::{Marks, Whose};
