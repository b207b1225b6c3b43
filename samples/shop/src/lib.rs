//! Shops made of components: each is a few objects with one condition, and starts after others.
//!
//! ```text
//!   Shop ──▶ storage (Secret, StatefulSet with a claim) ──▶ schema (a Job for each version) ──▶ front (Service, Deployment, …)
//!            metrics, if wanted
//!   before: a licence, which may take its time, and its quota; after: an announcement, which may fail
//! ```
//!
//! [`types`] is the kind, `children` what its objects contain, `components` what belongs together, [`outside`] what isn't in the
//! cluster, and `controller` the steps and the status.

mod bench;
mod children;
mod components;
mod controller;
pub mod outside;
pub mod types;

pub use bench::{RBAC, workbench};
pub use controller::{controller, operator};
pub use types::{Shop, ShopSpec, ShopStatus};
