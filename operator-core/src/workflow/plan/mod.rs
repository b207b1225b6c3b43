//! The next steps for the nodes of a workflow: a state machine that is driven from outside.
//!
//! ```text
//!               ┌─ Run ──▶ Reconcile ─ Ready ──▶ Check of those that depend on it, once all they depend on is ready
//!               │                    └ NotReady, Failed ──▶ all behind it is judged
//!  Check(node) ─┼─ Hold, Waiting, Failed ──▶ it is kept as it is, all behind it is judged
//!               │
//!               └─ Remove, Inactive ──▶ all behind it is judged, and goes with it
//!
//!               ┌─ Remove, Inactive ──▶ it is marked, and what depends on it goes with it
//!  Judge(node) ─┼─ Run ──▶ it is kept as it is; marked, where what it depends on goes
//!               └─ Hold, Waiting, Failed ──▶ it is kept as it is, and the removal stops
//!
//!  marked ──▶ Delete from the far end
//!               │ Gone, Inactive: the next one
//!               └ NotYet, Failed: what it depends on waits
//! ```
//!
//! A clean-up consists of the last part alone: every node is marked from the start, and no gate is evaluated.
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
//!         Step::Judge(_) | Step::Delete(_) => unreachable!("all is ready, and nothing was to be removed"),
//!     }
//! }
//! assert!(plan.is_finished());
//! assert!(plan.fates().all(|(_, fate)| fate == Fate::Ready));
//! # Ok::<(), operator_core::workflow::BuildError>(())
//! ```
//!
//! # Guarantees
//! - A node is checked and reconciled once all that it depends on is ready, and deleted once all that depends on it is
//!   gone. Everything that can be done is requested at once.
//! - Exactly those nodes are deleted that answered [`Checked::Remove`], and those that such a removal, or one that comes
//!   from an answer [`Checked::Inactive`], reaches along the edges through nodes that answered [`Checked::Run`]. A node
//!   that answered [`Checked::Hold`], waits, or couldn't answer stops it: it stays, and so does what it depends on.
//! - Each gate is evaluated, even behind a node that is held, waits, failed or isn't ready. Nothing is reconciled
//!   there, and what exists is kept, unless a removal reaches it: by its own gate, or by another node that it depends
//!   on.
//! - A failure affects only the nodes behind it. A failed deletion, and a gate that couldn't say whether it stops a
//!   removal, also affect the nodes before it that should be deleted.
//! - Each node is checked, reconciled and deleted at most once, so a run ends when its steps do. After the end every
//!   node has its [`Fate`].
//! - Fates depend on the answers, not on the order in which they arrive. The same answers in the same order give the
//!   same steps in the same order.
//!
//! # Assumptions
//! - Every step that is requested is answered, even if with a failure. A run that is abandoned halfway needs no
//!   clean-up.

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
