//! For tests and for development: a real control plane on demand.
//!
//! [`DryRun`] is one run of a controller without a cluster. It shows what the run writes.
//!
//! [`ControlPlane`] starts and ends one; [`TestCluster`] is one that all tests of a binary share, with what tests often
//! need; [`TestOperator`] is an operator inside a test, whose work can be waited for and counted; [`OtherSystem`] is a
//! scripted system outside the cluster, for dependents that keep records there. [`eventually`] waits for anything else,
//! [`Gate`] holds a run or a request, [`Audit`] says what an operator has asked of the API server, [`LogCapture`] what it
//! has logged, [`ObservedGenerations`] whether its statuses are about what its runs were given, and [`Relist`] makes its caches list again. The API servers themselves are in the
//! crate `test-cluster`, which doesn't depend on operators; the page "Testing with a control plane" of the
//! documentation describes what else is possible.
//!
//! | Java Operator SDK | here |
//! |---|---|
//! | `LocallyRunOperatorExtension`'s cluster (fabric8's kube-api-test) | [`ControlPlane`], [`TestCluster`] |
//! | its namespace per test | [`TestCluster::namespace`], in which [`TestCluster::connect`] makes the operator work |
//! | its CRDs, applied before the test | [`TestCluster::install_crds`] |
//! | its `withAdditionalCRD`, with a file | [`TestCluster::install_crd_files`] |

mod audit;
mod both;
mod cluster;
mod context;
mod dry_run;
pub mod faults;
mod generations;
mod idle;
#[cfg(test)]
mod in_process_tests;
mod log;
mod manifests;
mod operator;
mod other_system;
mod relist;
mod request_log;
pub mod simulation;

pub use audit::{Audit, Calls};
pub use cluster::{Profile, TestCluster};
pub use context::offline_context;
pub use dry_run::{DryRun, Planned};
pub use generations::ObservedGenerations;
#[doc(hidden)]
pub use idle::idle_node;
pub use log::{LogCapture, LogLine};
#[cfg(feature = "cli")]
pub(crate) use manifests::discovered;
pub use operator::{Settled, TestOperator};
pub use other_system::{OtherSystem, OtherSystemError};
pub use relist::Relist;
pub use request_log::ObjectRequest;
pub use test_cluster::{
    Assets, AuditEvent, AuditReader, ClusterController, ControlPlane, ControlPlaneBuilder, Controllers,
    Error, Gate, InProcessServer, Listening, Node, Part, Pods, Proxy, eventually, seed_of_the_day,
};

/// Makes two tests from one: `name::real` on the real API server and `name::in_process` on the one inside the process.
///
/// The function is an `async fn` without arguments, whose cluster is [`TestCluster::shared`]. Inside the process it runs in
/// virtual time: minutes of waiting pass in milliseconds, so measure with tokio's clock.
///
/// ```
/// use operator_core::testing::{TestCluster, operator_test};
///
/// #[operator_test]
/// async fn a_namespace_is_made() -> anyhow::Result<()> {
///     let cluster = TestCluster::shared().await?;
///     assert!(cluster.namespace("mine").await?.starts_with("mine-"));
///     Ok(())
/// }
/// ```
///
/// On the real server the runtime has threads, unless the attribute contains `flavor = "current_thread"`. A test that
/// needs something that the in-process server doesn't have declares it, in the words of the server's 501 answer, as in
/// `#[operator_test(real = "podtemplates")]`, or `real = "a control plane"`. Inside the
/// process it must then fail with them, so that no exception outlives its reason.
pub use operator_macros::operator_test;

/// What macros expand to.
#[doc(hidden)]
pub mod __private {
    pub use super::both::{Outcome, in_process, lacking_in_process, real};
}
