//! One test on two API servers.
//!
//! ```text
//!  #[operator_test] async fn t() ─┬─▶ t::real         runtime with threads      TestCluster::shared() ─▶ control plane
//!                                └─▶ t::in_process   one thread, virtual time  TestCluster::shared() ─▶ in this process
//! ```
//!
//! # Guarantees
//! - The body is compiled once and runs on both.
//! - A test that is declared to need the real server must fail inside the process, and for that reason: this detects a
//!   declaration that no longer holds, and a test that fails for another reason.

use std::{
    cell::RefCell,
    fmt::Debug,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
};

use tokio::runtime::{Builder, Runtime};

use super::TestCluster;
use crate::results::panic_text;

thread_local! {
    /// The cluster of the test that runs on this thread, while it runs inside the process.
    static IN_PROCESS: RefCell<Option<TestCluster>> = const { RefCell::new(None) };
}

/// The cluster of the test that runs on this thread, if it runs inside the process.
pub(super) fn in_process_cluster() -> Option<TestCluster> {
    IN_PROCESS.with_borrow(Clone::clone)
}

/// The outcome of a test.
pub trait Outcome {
    /// Why it has failed; `None` if it has passed.
    fn failure(&self) -> Option<String>;
}

impl Outcome for () {
    fn failure(&self) -> Option<String> {
        None
    }
}

impl<E: Debug> Outcome for Result<(), E> {
    fn failure(&self) -> Option<String> {
        self.as_ref().err().map(|error| format!("{error:?}"))
    }
}

/// The start of the one line that each test is told if there is no control plane.
const NOT_STARTED: &str = "the shared control plane did not start";

/// Runs a test on the real API server, on one thread or several. If there is none, the test fails with one line, without
/// a backtrace.
pub fn real<F: Future<Output: Outcome> + 'static>(threads: bool, test: impl FnOnce() -> F) -> F::Output {
    let mut builder = if threads { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let outcome = runtime(builder.enable_all()).block_on(erased(test()));
    if let Some(line) = outcome.failure().as_deref().and_then(not_started) {
        fail_quietly(line);
    }
    outcome
}

fn not_started(failure: &str) -> Option<&str> {
    failure.lines().map(str::trim_start).find(|line| line.contains(NOT_STARTED))
}

#[expect(clippy::print_stderr, reason = "it is what the test fails with")]
fn fail_quietly(line: &str) -> ! {
    eprintln!("{line}");
    resume_unwind(Box::new(line.to_owned()))
}

/// Runs a test on a server inside the process, in virtual time: when nothing else can proceed, the next timer is due.
pub fn in_process<F: Future + 'static>(test: impl FnOnce() -> F) -> F::Output {
    let runtime = runtime(Builder::new_current_thread().enable_all().start_paused(true));
    // Put back even if the test panics: the next one on this thread may be on the real server.
    let _place = ThreadCluster::take(TestCluster::in_process());
    runtime.block_on(erased(test()))
}

/// The start of what the server says, with 501, about what it doesn't do, and of what [`TestCluster`] says about what
/// only a control plane has.
const REFUSALS: [&str; 2] =
    ["the in-process server does not do this: ", "the API server is inside this process, without "];

/// Runs a test inside the process that can't pass there, because what is `lacking` is missing.
///
/// # Panics
/// If it passes, and if it fails for another reason: its failure must contain the server's refusal, and this must
/// contain `lacking`.
pub fn lacking_in_process<F: Future<Output: Outcome> + 'static>(lacking: &str, test: impl FnOnce() -> F) {
    let outcome = catch_unwind(AssertUnwindSafe(|| in_process(test)));
    let failure = match &outcome {
        Ok(outcome) => outcome.failure(),
        Err(panic) => Some(panic_text(panic.as_ref()).to_owned()),
    };
    let Some(failure) = failure else {
        panic!("it passes in the process: `real = \"{lacking}\"` can go");
    };
    assert!(
        is_refusal(&failure, lacking),
        "in the process it must fail for want of {lacking:?}, which the server refuses with 501, and it fails with: {failure}"
    );
}

fn is_refusal(failure: &str, lacking: &str) -> bool {
    let refused = REFUSALS.iter().filter_map(|words| failure.split_once(words));
    refused.map(|(_, what)| what.lines().next().unwrap_or_default()).any(|what| what.contains(lacking))
}

/// Without its type, so that the runtime's code is compiled once and not for each test.
fn erased<F: Future + 'static>(test: F) -> Pin<Box<dyn Future<Output = F::Output>>> {
    Box::pin(test)
}

fn runtime(builder: &mut Builder) -> Runtime {
    builder.build().expect("a runtime needs a few file descriptors only")
}

struct ThreadCluster;

impl ThreadCluster {
    fn take(cluster: TestCluster) -> Self {
        IN_PROCESS.set(Some(cluster));
        Self
    }
}

impl Drop for ThreadCluster {
    fn drop(&mut self) {
        IN_PROCESS.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said_of(lacking: &str, test: impl AsyncFnOnce() -> Result<(), String> + 'static) -> Option<String> {
        let said = catch_unwind(AssertUnwindSafe(|| lacking_in_process(lacking, || test())));
        said.err().map(|panic| panic_text(panic.as_ref()).to_owned())
    }

    /// A request that the server inside the process really refuses.
    async fn refused() -> Result<(), String> {
        let client = TestCluster::shared().await.and_then(|cluster| cluster.client());
        let client = client.map_err(|error| error.to_string())?;
        let request =
            http::Request::get("/api/v1/podtemplates").body(Vec::new()).map_err(|error| error.to_string())?;
        let answer: Result<serde_json::Value, _> = client.request(request).await;
        answer.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_test_that_needs_the_real_server_fails_for_want_of_what_it_says() {
        assert_eq!(said_of("podtemplates", refused), None);
        let control_plane = async || match TestCluster::shared().await {
            Ok(cluster) => cluster.control_plane().map(drop).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(said_of("a control plane", control_plane), None);
    }

    #[test]
    fn without_a_control_plane_one_line_is_said() {
        let failure = "install the definitions\n\nCaused by:\n    the shared control plane did not start: no Go\n\nStack \
                       backtrace:\n   0: main";
        assert_eq!(not_started(failure), Some("the shared control plane did not start: no Go"));
        assert_eq!(not_started("another failure\n  0: main"), None);
    }

    #[test]
    fn another_failure_than_that_is_none() {
        let other = said_of("webhooks", refused).expect("something else is lacking");
        assert!(other.contains("podtemplates") && other.contains("for want of \"webhooks\""), "{other}");
        let assertion = said_of("webhooks", async || panic!("seven is not eight")).expect("an assertion");
        assert!(assertion.contains("seven is not eight"), "{assertion}");
        let error = said_of("webhooks", async || Err("there are no webhooks".to_owned())).expect("an error");
        assert!(error.contains("there are no webhooks"), "its own words are no refusal: {error}");
        let passes = said_of("webhooks", async || Ok(())).expect("it passes");
        assert!(passes.contains("can go"), "{passes}");
    }
}
