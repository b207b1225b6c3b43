//! What is done next about the nodes of a workflow: a state machine that somebody else drives.
//!
//! ```text
//!               ┌─ Run ──▶ Reconcile ─ Ready ──▶ Check of those that depend on it, once all they depend on is ready
//!               │                    └ NotReady, Failed ──▶ all behind it is kept as it is
//!  Check(node) ─┼─ Hold, Waiting, Failed ──▶ it and all behind it is kept as it is
//!               │
//!               └─ Remove, Inactive ──▶ all behind it is marked ──▶ Delete from the far end
//!                                                                     │ Gone, Inactive: the next one
//!                                                                     └ NotYet, Failed: what it depends on waits
//! ```
//!
//! A clean-up is the last part alone: every node is marked from the start.
//!
//! ```
//! use operator_core::bench::{Graph, Checked, Fate, Plan, Reconciled, Step};
//!
//! let graph = Graph::new([("config", vec![]), ("deployment", vec!["config"])])?;
//! let (mut plan, mut steps) = (Plan::reconcile(&graph), Vec::new());
//! plan.start(&mut steps);
//! while let Some(step) = steps.pop() {
//!     match step {
//!         Step::Check(node) => plan.checked(node, Checked::Run, &mut steps),
//!         Step::Reconcile(node) => plan.reconciled(node, Reconciled::Ready, &mut steps),
//!         Step::Delete(_) => unreachable!("nothing was to be removed"),
//!     }
//! }
//! assert!(plan.is_finished());
//! assert!(plan.fates().all(|(_, fate)| fate == Fate::Ready));
//! # Ok::<(), operator_core::workflow::Error>(())
//! ```
//!
//! # Guarantees
//! - A node is checked and reconciled once all that it depends on is ready, and deleted once all that depends on it is
//!   gone. Everything that can be done is asked for at once.
//! - Exactly those nodes are deleted that answered [`Checked::Remove`], and those that depend, directly or through
//!   others, on one that answered [`Checked::Remove`] or [`Checked::Inactive`]. That wins over every other reason: a
//!   node behind both a removed and a held one is deleted.
//! - Behind a node that is held, waits, failed or isn't ready nothing is checked, so the gates there say nothing; what
//!   is there is kept, unless it is also behind another node that is removed or inactive.
//! - A failure concerns only the nodes behind it; for a failed deletion, those before it that are to be deleted as well.
//! - Each node is checked, reconciled and deleted at most once, so a run ends when its steps do. After the end every
//!   node has its [`Fate`].
//! - Fates depend on the answers, not on the order in which they come. The same answers in the same order give the same
//!   steps in the same order.
//!
//! # Assumptions
//! - Every step that is asked for is answered, be it with a failure. A run that is given up halfway needs no farewell.

mod fate;
mod machine;
mod step;
mod table;

#[cfg(test)]
mod tests;

pub use fate::Fate;
pub(crate) use fate::{Obstacle, RemovalObstacle};
pub use machine::Plan;
pub use step::{Checked, Reconciled, Removed, Step};
