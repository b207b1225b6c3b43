//! The traits of which users implement one: a [`Reconciler`], or a [`Cleaner`](traits::Cleaner) if something must be undone
//! before an object is deleted.
//!
//! Both get the primary and a [`Context`], and return what to write, whether the primary may be deleted, and when to
//! run again. An object has at most one run at a time: while it is in progress, no other run of that object starts, and
//! any events about the object during the run cause exactly one more run.

mod any_context;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod data;
mod distinct;
pub(crate) mod expectation;
mod former_records;
mod handle;
mod invoke;
mod memo;
#[cfg(any(test, feature = "testing"))]
mod offline;
pub(crate) mod run;
mod steps;
mod surroundings;
pub(crate) mod traits;

pub(crate) use crate::error::BoxError;
pub use crate::processor::retry::RetryInfo;
pub(crate) use any_context::{AnyContext, ControllerContext, RunContext};
pub(crate) use context::{AnotherType, AnyGiven, Context};
pub(crate) use control::{Patch, Removal, UpdateControl};
#[doc(hidden)]
pub use data::DataType;
pub(crate) use data::{Data, DataOfRun};
pub(crate) use distinct::distinct;
pub use expectation::Expectation;
#[cfg(feature = "testing")]
pub(crate) use expectation::Expected;
pub(crate) use handle::{ManagedWorkflow, Parted, Remembered, Unfinished, Wants};
pub(crate) use memo::MemoKey;
#[cfg(any(test, feature = "testing"))]
pub(crate) use offline::{Offline, OfflineParts};
pub(crate) use run::Run;
pub(crate) use run::{AnyRun, AnyStatus, RECONCILING, SerializedStatus, erased, says_paused};
pub use run::{RunError, StatusFunction};
pub(crate) use surroundings::{Applying, DEFAULT_MAX_CONCURRENT_DEPENDENTS, WorkflowSurroundings};
pub(crate) use traits::{CleanupFn, Reconciler};
