//! Many controllers, one process: clients, start, signals, drain, and the view from outside.
//!
//! ```text
//! builder ─▶ Operator ─start─▶ controllers run ─stop─▶ drain, at most `termination_timeout` ─▶ stopped
//!                ▲                                                                               │
//!                └───────────────────────────────can be started again────────────────────────────┘
//! ```
//!
//! # Guarantees
//! - `stop` on an operator that was never started, or was stopped before, does nothing.
//! - After `stop` has returned nothing of the operator runs, and no write leaves the process.
//! - With an HTTP address (and the feature `http`), `/metrics`, `/healthz` and `/readyz` are served from the start to the
//!   end of the stop.
//! - With a leader election, a replica writes only while it leads; see [`LeaderElection`].
//! - If a kind can't be watched, because its definition or a right is missing, the operator isn't ready, and the watch
//!   is retried. This stops neither the process nor the other controllers, nor, if namespaces are followed separately,
//!   the primaries in other namespaces. [`OperatorBuilder::stop_on_source_error_at_start`] changes this for the start.

pub(crate) mod builder;
mod configured;
mod declared;
mod definitions;
pub(crate) mod error;
mod health;
#[cfg(feature = "http")]
mod http;
pub(crate) mod leader;
pub(crate) mod lifecycle;
mod namespaces;
mod needs;
pub(crate) mod run;
mod settle;
mod stopped;
mod telling;

pub(crate) use builder::OperatorBuilder;
pub(crate) use error::Error;
pub(crate) use leader::LeaderElection;
pub use leader::{LeaderElectionError, Leadership, LostLeadership};
pub(crate) use lifecycle::Operator;
pub use lifecycle::{Stopped, UndecodableObject, UnhealthySource};
pub(crate) use run::Exit;
#[cfg(feature = "testing")]
pub(crate) use settle::Footprint;
pub use settle::{SettleError, Settling};
pub use stopped::StoppedSource;
