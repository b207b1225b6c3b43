//! Workflows: dependents in their order, with the conditions under which they exist.
//!
//! ```text
//! Workflow::builder().nodes((html, web.after(html))).build()
//!        │
//!        ├─ managed:    Controller::builder(r).workflow(workflow)              runs before reconcile, and on clean-up
//!        ├─ explicit:   …workflow(workflow.explicit_invocation())              context.run().await
//!        └─ standalone: …event_sources_of(&workflow)                           workflow.reconcile(&primary, context).await
//!
//! declarations ──▶ Graph (once)    ┌──── step ────▶ run: evaluates conditions, calls dependents
//!                    │             │                                │
//!                    └──▶ Plan (each run) ◀──── answer ─────────────┘
//!                                  │
//!                                  ▼
//!                      a Fate, and so a NodeState, for every node
//! ```
//!
//! All decisions are made in `graph` and `plan`, which know neither the API server nor a clock.
//!
//! # Guarantees
//! - A node runs after everything it depends on is ready.
//! - A node is deleted after everything that depends on it was deleted, and, if that has a condition `gone`, after the
//!   condition is met. When a primary is deleted, a node is deleted after everything that depends on it is gone; only nodes
//!   that the garbage collector deletes after the primary go in any order. [`Workflow::outline`] lists which is which.
//! - A hold protects the node that returns it, and stops removals that come from its dependencies.
//! - Everything that can proceed does, at the same time; a failing node stops only the nodes that depend on it.
//! - The result contains for every node what happened and why.
//! - A run can be dropped at any await; it leaves nothing behind except its writes.
//! - A panic in a dependent or a condition is that node's error.
//!
//! # Assumptions
//! - Conditions only read, and change nothing.
//! - Activation concerns the cluster: it is evaluated without a primary.

pub mod conditions;
#[doc(hidden)]
pub mod declare;
mod error;
pub(crate) mod mermaid;
mod outline;
pub(crate) mod plan;
mod run;

pub use crate::results::{
    ConditionKind, GroupResult, NodeKey, NodeResult, NodeState, NodeStatus, Operation, ReconcileResult,
    Secondary, Unwanted, WorkflowError as Error,
};
pub use conditions::activation::{Activation, Askers, Cluster};
#[cfg(feature = "testing")]
pub(crate) use declare::builder::NODES_ARE_REVERSED;
pub use declare::builder::WorkflowBuilder;
pub(crate) use declare::builder::{AnyBuilder, AnyWorkflow, Workflow, WorkflowSources};
pub(crate) use declare::graph::{Graph, NodeId, Word};
pub use declare::group::{Group, group};
pub(crate) use declare::into::Stage;
#[doc(hidden)]
pub use declare::into::{Declare, Declaring, IntoWorkflow};
pub use declare::nodes::{AnyNodes, IntoNode, Nodes};
pub use declare::record::RecordNode;
pub use declare::reference::Predecessor;
pub use declare::value::Value;
pub use error::BuildError;
pub(crate) use error::Mistake;
pub(crate) use outline::{Outline, OutlinedGroup};
