//! Resources that depend on one another: what is done about each of them, in which order.
//!
//! ```text
//! declarations ──▶ Graph (once)          ┌──── step ────▶ whoever evaluates conditions and writes
//!                    │                   │                                │
//!                    └──▶ ReconcilePlan or CleanupPlan (each run) ◀─ answer ┘
//!                                        │
//!                                        ▼
//!                             a Fate for every node
//! ```
//!
//! All decisions are in [`graph`] and [`plan`], which know neither the API server nor a clock.
//!
//! JOSDK: `Workflow`, with its executors `WorkflowReconcileExecutor` and `WorkflowCleanupExecutor`.

pub mod graph;
pub mod mermaid;
pub mod plan;

mod error;

pub use error::{Error, Mistake};
pub use graph::{Graph, NodeId};
