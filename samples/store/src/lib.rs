//! Replicated key-value stores: an operator with all that one in production needs. The book's chapter "A production operator" grows
//! it in eight steps.
//!
//! ```text
//!   Store ──▶ password, a Secret, unless the user names one ──▶ members, a StatefulSet ──▶ backups, a CronJob
//!             settings, Services, a disruption budget
//!             a ServiceMonitor, where the cluster has that kind
//! ```
//!
//! [`types`] is the kind, `children` what its objects contain, [`outside`] what isn't in the cluster, and `controller` all else.

mod bench;
mod children;
mod controller;
pub mod outside;
pub mod types;

pub use bench::{RBAC, workbench};
pub use controller::{controller, members, operator};
pub use types::{Store, StoreSpec, StoreStatus};
