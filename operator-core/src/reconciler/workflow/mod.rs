//! What a run knows of its workflow: the data of a result, and the handle by which user code invokes it.
//!
//! The engine itself is [`crate::workflow`]. Its results stand here, because a reconciler reads them from its context.
//!
//! ```text
//! dependent ──▶ ReconcileResult ─┐
//! condition ──▶ ConditionResult ─┼─▶ NodeResult ─▶ WorkflowResult ─▶ Context::workflow()
//! error ─────────────────────────┘
//! ```

mod condition;
mod handle;
mod result;
mod secondary;

pub use condition::{ConditionKind, ConditionResult};
pub(crate) use handle::{ManagedWorkflow, Remembered};
pub use handle::{WorkflowError, WorkflowHandle};
pub use result::{NodeResult, NodeState, WorkflowResult};
pub use secondary::{Operation, ReconcileResult, Secondary};
