//! Whose an object is, as it says so itself: labels and an annotation that every dependent puts on what it writes. Pure.
//!
//! ```text
//! metadata ─┬─ owner reference, or label of the owner: the primary's uid ─┐
//!           ├─ labels of controller and node ─────────────────────────────┼─▶ Whose: mine, an orphan, a former node's,
//!           ├─ annotation: a hash with the object's own name ─────────────┤         going, nobody's, foreign
//!           └─ field managers, mapping annotations ───────────────────────┘
//! ```
//!
//! # Guarantees
//! - Nothing is mine to remove that this node of this controller has not written for this very primary, under the object's own
//!   name: a copy, an heir of labels and an object whose labels somebody has edited have no mark that fits.
//! - The same marks always come of the same controller, node, primary and object, in each version of the library.
//!
//! # Assumptions
//! - Field managers are told as the caches keep them: those of the operator's own at least.

mod controller;
mod done;
mod names;
mod nodes;
mod value;
mod whose;
#[cfg(test)]
mod whose_tests;

pub(crate) use controller::ControllerMarks;
pub(crate) use done::{DoneBy, DoneJobs, fingerprint, has_succeeded, is_job};
pub use names::MarkNames;
pub(crate) use nodes::Nodes;
pub(crate) use value::{digits, label_value};
pub(crate) use whose::{Marks, Whose};
