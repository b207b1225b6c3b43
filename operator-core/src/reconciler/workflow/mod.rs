//! What a run knows about its workflow: the data of a result, and the handle by which it is invoked.
//!
//! The engine itself is [`crate::workflow`]. Its results are defined here, because a reconciler reads them from its
//! context.
//!
//! ```text
//! dependent ──▶ ReconcileResult ─┐
//! condition ──▶ Verdict ─────────┼─▶ NodeResult ─▶ WorkflowResult ─▶ Run
//! error ─────────────────────────┘
//! ```

mod adoption;
mod applying;
pub(crate) mod condition;
mod dependent_error;
mod handle;
mod key;
mod latest;
mod leaving;
mod panicked;
mod result;
mod secondary;
mod surroundings;
mod token;

pub use crate::observe::node::{NodeState, Operation};
pub use adoption::Adoption;
pub(crate) use applying::Applying;
pub use condition::ConditionKind;
pub(crate) use condition::HoldCode;
pub(crate) use condition::Verdict;
pub use dependent_error::DependentError;
pub use handle::WorkflowError;
pub(crate) use handle::{AnyHandle, ManagedWorkflow, Parted, Remembered, Unfinished};
pub use key::NodeKey;
pub(crate) use latest::LatestResults;
pub use latest::NodeStatus;
pub(crate) use leaving::Leaving;
pub(crate) use panicked::{Panicked, panic_text};
pub(crate) use result::{NOT_COME_TO, WorkflowResult};
pub use result::{NodeResult, Unwanted};
pub use secondary::{ReconcileResult, Secondary};
pub(crate) use surroundings::{DEFAULT_MAX_CONCURRENT_DEPENDENTS, WorkflowSurroundings};
pub use token::Token;
