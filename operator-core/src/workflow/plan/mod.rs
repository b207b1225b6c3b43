//! The next steps for the nodes of a workflow: a state machine that is driven from outside.
//!
//! ```text
//! first all that is wanted:
//!   Check(node) ─┬─ Run ──▶ Reconcile ─┬─ Ready ──▶ nobody waits for it any more
//!                │                     ├─ NotReady, Waiting, Failed ──▶ what is behind it waits
//!                │                     └─ Open ──▶ Reconcile once more, when nothing else can be done
//!                ├─ Hold, Waiting, Failed ──▶ it is kept as it is, and what is behind it waits
//!                └─ Remove, Inactive ──▶ nobody waits for it, and what requires it isn't wanted either
//!   Judge(node): the same answers of a node that can't be reconciled, when nothing else can be done
//!
//! then all that isn't, from the far end:
//!   Delete(node that isn't wanted), Sweep(node that was reconciled) ──▶ the nodes before it
//! ```
//!
//! A clean-up consists of the last part alone: no node is wanted from the start, and no gate is evaluated.
//!
//! ```
//! use operator_core::bench::{Graph, Checked, Fate, Plan, Reconciled, Step, Swept};
//!
//! let graph = Graph::new([("config", vec![]), ("deployment", vec!["config"])])?;
//! let (mut plan, mut steps) = (Plan::reconcile(&graph), Vec::new());
//! plan.start(&mut steps);
//! while let Some(step) = steps.pop() {
//!     match step {
//!         Step::Check(node) => plan.checked(node, Checked::Run, &mut steps),
//!         Step::Reconcile(node) => plan.reconciled(node, Reconciled::Ready, &mut steps),
//!         Step::Sweep(node) => plan.swept(node, Swept::Done, &mut steps),
//!         Step::Judge(_) | Step::Delete(_) => unreachable!("all is ready, and nothing was to be removed"),
//!     }
//!     // Does nothing before all is applied, or the second time.
//!     plan.remove(&[], &mut steps);
//! }
//! assert!(plan.is_finished());
//! assert!(plan.fates().all(|(_, fate)| fate == Fate::Ready));
//! # Ok::<(), operator_core::workflow::BuildError>(())
//! ```
//!
//! # Guarantees
//! - A node is checked and reconciled once each node that it comes after is ready, isn't wanted, or takes no part; a node
//!   that has started doesn't wait for those that it only starts after, and a node that is only in order after another one
//!   waits until that one is applied. Everything that can be done is requested at once.
//! - Nothing is removed before all that can be applied was applied.
//! - Exactly those nodes aren't wanted that answered [`Checked::Remove`], and those that require one that isn't wanted or
//!   takes no part, directly or through others that answered [`Checked::Run`]. A node that answered [`Checked::Hold`],
//!   waits, or couldn't answer stays, and so does everything that it comes after.
//! - Something is removed once each node behind it, directly or through others, and each that reads it, was reconciled, even if it isn't ready, was
//!   removed, or takes no part.
//! - Each gate is evaluated, even behind a node that is held, waits, failed or isn't ready.
//! - A failure affects only the nodes behind it, and the removals before it.
//! - A node is checked, judged, swept and deleted at most once, and reconciled once more after each [`Reconciled::Open`], when
//!   nothing else can be done, so a run ends when its steps do. After the end every node has its [`Fate`].
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
mod wait;

#[cfg(test)]
mod tests;

pub use fate::Fate;
pub(crate) use fate::{Keeper, Obstacle, RemovalObstacle};
pub use machine::Plan;
pub use step::{Checked, Reconciled, Removed, Step, Swept};
