//! `dev`: runs the operator against its own API server, and shows what it does.
//!
//! ```text
//! API server ─▶ definitions ─▶ manifests, rights ─▶ operator ─▶ examples or scenario ─▶ until Ctrl-C, or settled
//!                                                       │ Observer        │ informers of the primaries
//!                                                       └──▶ feed ◀───────┘
//! ```
//!
//! # Guarantees
//! - The API server, real or inside the process, lives and dies with the command: nothing of it is left, even if the
//!   command is killed with SIGKILL.
//! - With manifests that contain a service account the operator runs as that account, so a missing rule shows up here
//!   and not in production.
//! - One line is one change. A run that changes nothing prints nothing.
//! - Nothing is written to a cluster that the command has not started itself.
//! - What an operator declares for it, such as a [`Workbench`], exists without the feature `testing` as well.

mod fixture;
#[cfg(feature = "testing")]
mod live;
mod ready;
mod scenario;
mod step;
mod workbench;

pub use ready::Readiness;
pub use scenario::Scenario;
pub use step::{Step, Target};
pub use workbench::Workbench;

use super::Error;
#[cfg(feature = "testing")]
pub(super) use live::dev;
