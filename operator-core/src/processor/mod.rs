//! Decides which primary runs when: from events to runs, with retry, rate limit and bounded concurrency.
//!
//! ```text
//! event sources ──Input──▶ Processor ══one channel══▶ ProcessorTask ──▶ machine (pure)
//!                                                        ▲   │ Effect::Run
//!                                                Outcome │   ▼
//!                                                     RunExecutor (given when it starts to run)
//! ```
//!
//! Read in this order: `machine` takes all decisions and is a function of its inputs; `Processor` and
//! `ProcessorTask` are the thin shell around it; [`Retry`] and [`RateLimiter`] are the two policies that users choose.
//! JOSDK: `EventProcessor`, `ResourceStateManager` and `TimerEventSource`.
//!
//! # Guarantees
//! - At most one run of a primary at a time; any number of events during a run cause exactly one more.
//! - Inputs that were sent before `Processor::snapshot` are included in its answer.
//! - A run that panics is a failed run; neither the processor nor other primaries are affected. A policy that panics
//!   stops its controller, which is logged and shown by the probe `/healthz`.
//! - Dropping the `ProcessorTask` (or its future) cancels all runs, and reports to the observers which runs no longer
//!   wait and which primaries are no longer known.
//!
//! # Assumptions
//! - Inputs about one primary are sent in the order in which things happened to it.

mod error;
mod governor;
pub(crate) mod machine;
mod rate_limit;
pub(crate) mod retry;
mod shell;

pub use error::Error;
pub use governor::GovernorRateLimiter;
pub(crate) use machine::{
    DEFAULT_SPREAD, Effect, FailureKind, Input, Machine, MachineConfig, Outcome, Reschedule, Run, RunId,
    Snapshot,
};
pub use rate_limit::{Admission, KeyLimit, LinearRateLimiter, RateLimiter};
pub(crate) use retry::{GenericRetry, RetryInfo};
pub use retry::{Retry, RetryState};
pub(crate) use shell::{HandedOut, Processor, ProcessorTask, RunExecutor};
