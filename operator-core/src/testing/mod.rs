//! For tests and for development: a real control plane on demand.
//!
//! [`ControlPlane`] starts and ends one; [`TestCluster`] is one that all tests of a binary share, with what tests need
//! again and again; [`TestOperator`] is an operator inside a test, which can be waited for and counted. The binaries are built once from Go modules that this crate carries; the page "Testing with a control
//! plane" of the documentation says what else is possible.
//!
//! | Java Operator SDK | here |
//! |---|---|
//! | `LocallyRunOperatorExtension`'s cluster (fabric8's kube-api-test) | [`ControlPlane`], [`TestCluster`] |
//! | its namespace per test | [`TestCluster::namespace`] |
//! | its CRDs, applied before the test | [`TestCluster::install_crds`] |

mod cluster;
mod context;
mod control_plane;
mod crds;
mod error;
pub mod faults;
mod in_process;
mod looks;
mod operator;
mod request_log;
pub mod simulation;

pub use cluster::{Profile, TestCluster};
pub use context::offline_context;
pub use control_plane::{Assets, AuditEvent, ControlPlane, ControlPlaneBuilder, Part};
pub use error::Error;
pub use in_process::InProcessServer;
pub use operator::{Settled, TestOperator};
pub use request_log::{ObjectRequest, RequestLog};
