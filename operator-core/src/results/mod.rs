//! The outcome of a workflow, as data: states and errors of its nodes, and the kind of each failure.
//!
//! The engine itself is [`crate::workflow`]. Its results are defined here, below it, because a reconciler reads them from
//! its context.
//!
//! ```text
//! dependent ──▶ ReconcileResult ─┐
//! condition ──▶ Verdict ─────────┼─▶ NodeResult ─▶ WorkflowResult ─▶ Run
//! error ─────────────────────────┘
//! ```

pub(crate) mod condition;
pub(crate) mod dependent_error;
pub(crate) mod failure_kind;
mod group;
mod key;
mod latest;
mod leaving;
mod result;
mod secondary;
mod token;
mod workflow_error;

pub use crate::observe::node::{NodeState, Operation};
pub use condition::ConditionKind;
pub(crate) use condition::Verdict;
pub(crate) use condition::WantCode;
pub use dependent_error::{Adoption, DependentError};
pub use group::GroupResult;
pub(crate) use group::{Carried, Grouped};
pub use key::NodeKey;
pub(crate) use latest::LatestResults;
pub use latest::NodeStatus;
pub(crate) use leaving::Leaving;
pub(crate) use result::{NOT_COME_TO, WorkflowResult};
pub use result::{NodeResult, Unwanted};
pub(crate) use secondary::Progress;
pub use secondary::{ReconcileResult, Secondary};
pub use token::Token;
pub use workflow_error::WorkflowError;
pub(crate) use workflow_error::{Panicked, panic_text};
