//! One test on two API servers.
//!
//! ```text
//!  #[operator_test] async fn t() ─┬─▶ t::real         runtime with threads      TestCluster::shared() ─▶ control plane
//!                                └─▶ t::in_process   one thread, virtual time  TestCluster::shared() ─▶ in this process
//! ```
//!
//! # Guarantees
//! - The body is compiled once and runs on both.
//! - A test that is declared to need the real server must fail inside the process: a declaration that is no longer true
//!   is found out.

use std::{
    cell::RefCell,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
};

use tokio::runtime::{Builder, Runtime};

use super::TestCluster;

thread_local! {
    /// The cluster of the test that runs on this thread, while it runs inside the process.
    static IN_PROCESS: RefCell<Option<TestCluster>> = const { RefCell::new(None) };
}

/// The cluster of the test that runs on this thread, if it runs inside the process.
pub(super) fn in_process_cluster() -> Option<TestCluster> {
    IN_PROCESS.with_borrow(Clone::clone)
}

/// Whether a test has passed.
pub trait Outcome {
    /// Whether it has.
    fn has_passed(&self) -> bool;
}

impl Outcome for () {
    fn has_passed(&self) -> bool {
        true
    }
}

impl<E> Outcome for Result<(), E> {
    fn has_passed(&self) -> bool {
        self.is_ok()
    }
}

/// Runs a test on the real API server, on one thread or several.
pub fn real<F: Future + 'static>(threads: bool, test: impl FnOnce() -> F) -> F::Output {
    let mut builder = if threads { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    runtime(builder.enable_all()).block_on(erased(test()))
}

/// Runs a test on a server inside the process, in virtual time: whenever nothing can go on, the next timer is due.
pub fn in_process<F: Future + 'static>(test: impl FnOnce() -> F) -> F::Output {
    let runtime = runtime(Builder::new_current_thread().enable_all().start_paused(true));
    // Put back even if the test panics: the next one on this thread may be on the real server.
    let _place = Place::take(TestCluster::in_process());
    runtime.block_on(erased(test()))
}

/// Runs a test inside the process that can't pass there, for want of what is `lacking`.
///
/// # Panics
/// When it passes.
pub fn lacking_in_process<F: Future<Output: Outcome> + 'static>(lacking: &str, test: impl FnOnce() -> F) {
    let outcome = catch_unwind(AssertUnwindSafe(|| in_process(test)));
    let has_passed = outcome.is_ok_and(|outcome| outcome.has_passed());
    assert!(!has_passed, "it passes in the process: `real = \"{lacking}\"` can go");
}

/// Without its type, so that the runtime's code is compiled once and not for each test.
fn erased<F: Future + 'static>(test: F) -> Pin<Box<dyn Future<Output = F::Output>>> {
    Box::pin(test)
}

fn runtime(builder: &mut Builder) -> Runtime {
    builder.build().expect("a runtime needs a few file descriptors only")
}

struct Place;

impl Place {
    fn take(cluster: TestCluster) -> Self {
        IN_PROCESS.set(Some(cluster));
        Self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        IN_PROCESS.set(None);
    }
}
