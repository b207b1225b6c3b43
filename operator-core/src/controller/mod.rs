//! One primary type, its reconciler, and everything between them, wired together.
//!
//! [`Controller::builder`] collects the declaration; the operator starts it. A controller can be started again after it
//! was stopped: everything that it learns while running belongs to that run.

mod beside;
pub(crate) mod builder;
mod check;
pub(crate) mod configuration;
mod configured;
pub(crate) mod declaration;
#[doc(hidden)]
mod definition;
mod dependents;
pub(crate) mod derived;
mod keeping;
mod kept;
mod mistake;
mod names;
mod permitted;
mod policy;
mod recording;
mod running;
mod settings;
mod sink;
mod sources;
mod starting;
#[cfg(test)]
pub(crate) mod test_pods;
#[cfg(feature = "testing")]
mod told;
mod unfinished;
mod when;
mod wired;
mod without;

pub(crate) use builder::ControllerBuilder;
pub(crate) use configured::{ControllerSettings, Setting};
pub(crate) use declaration::Controller;
pub use declaration::IntoController;
pub use mistake::{Mistake, Mistakes};
pub(crate) use permitted::Places;
#[doc(hidden)]
pub use policy::{IntoRateLimiter, IntoRetry};
pub(crate) use running::{Ailing, RunningController};
pub(crate) use starting::SHORTEST_SYNC_TIMEOUT;
pub(crate) use wired::OperatorParts;
pub use without::NoReconciler;
