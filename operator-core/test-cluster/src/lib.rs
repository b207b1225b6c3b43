#![doc = include_str!("../README.md")]
//!
//! # Modules
//! None is public; they use each other in this order only.
//!
//! - `error`: the errors.
//! - `seed`: the seed of randomized tests.
//! - `audit`: the calls that an API server has answered.
//! - `impersonation`: requests as another user.
//! - `looks`: repeated checks until something is ready, or, in a test, has happened.
//! - `gate`: where something waits until a test lets it go on.
//! - `virtual_time`: whether tokio's clock is paused.
//! - `files`: files and folders, with errors that name them.
//! - `certs`: a certificate authority, and what it signs.
//! - `kubeconfig`: the file for clients.
//! - `crds`: reads definitions from files, applies them, and waits for them.
//! - `control_plane`: a real API server, on demand.
//! - `in_process`: the one inside the process.
//! - `proxy`: broken connections to the real one.

mod error;
mod seed;

mod audit;
mod files;
mod gate;
mod impersonation;
mod looks;
mod virtual_time;

mod certs;
mod crds;
mod kubeconfig;

mod control_plane;
mod in_process;

mod proxy;

pub use audit::{AuditEvent, AuditReader};
pub use control_plane::{Assets, ControlPlane, ControlPlaneBuilder, Part};
pub use crds::{install_crd, read_crds};
pub use error::Error;
pub use gate::Gate;
pub use in_process::{
    ClusterController, Controllers, InProcessServer, Listening, Node, Pods, ResponseBody, Snapshot,
};
pub use looks::eventually;
pub use proxy::Proxy;
pub use seed::seed_of_the_day;
