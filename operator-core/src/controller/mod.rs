//! One primary type, its reconciler, and everything between them, wired together.
//!
//! [`Controller::builder`] collects the declaration; the operator starts it. A controller can be started again after it
//! was stopped: everything that it learns while running belongs to that run.

pub(crate) mod builder;
mod check;
mod configured;
pub(crate) mod declaration;
pub(crate) mod derived;
mod draft;
#[doc(hidden)]
pub(crate) mod into;
mod mistake;
mod names;
mod permitted;
#[cfg(test)]
pub(crate) mod pods_for_tests;
mod running;
mod settings;
mod sources;
mod wire;

pub(crate) use builder::ControllerBuilder;
pub(crate) use configured::{ControllerSettings, Setting};
pub(crate) use declaration::Controller;
pub use into::{IntoController, NoReconciler};
#[doc(hidden)]
pub use into::{IntoRateLimiter, IntoRetry};
pub use mistake::{Mistake, Mistakes};
pub(crate) use permitted::Places;
pub(crate) use running::{RunningController, SHORTEST_SYNC_TIMEOUT};
pub(crate) use wire::OperatorParts;
