//! Why a run failed, as a status function sees it.

use std::{error::Error as StdError, fmt, sync::Arc};

use crate::{
    error::Permanent,
    observe::{error_chain, with_sources},
    reconciler::BoxError,
    results::failure_kind::parts,
};

/// Why a run failed. Displayed as the error and its causes, in one line.
#[derive(Clone, Debug)]
pub struct RunError {
    pub(crate) error: Arc<BoxError>,
    pub(crate) attempt: u32,
    pub(crate) is_last_attempt: bool,
    /// Whether the failure doesn't end by itself: no retry follows, or one that only succeeds if something outside changes.
    pub(crate) is_stalled: bool,
    pub(crate) timed_out: bool,
    pub(crate) panicked: bool,
    pub(crate) node: Option<Arc<str>>,
}

impl RunError {
    /// The number of the retry: 0 if the run was not a retry. Failures of the server, and those that something outside
    /// decides, don't count.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether no retry follows: the attempts are used up, or the error is one that isn't retried. The next event, or
    /// the maximum interval, still causes a run.
    #[must_use]
    pub fn is_last_attempt(&self) -> bool {
        self.is_last_attempt
    }

    /// Whether the run was dropped at its deadline, the `reconcile_timeout` of its controller.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }

    /// Whether user code panicked.
    #[must_use]
    pub fn panicked(&self) -> bool {
        self.panicked
    }

    /// The node of the workflow that failed, or that hung until the deadline; the first one of several.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// The first reason that a permanent error among the causes gives.
    pub(super) fn code(&self) -> Option<&'static str> {
        fn of(error: &(dyn StdError + 'static)) -> Option<&'static str> {
            let within = |error| parts(error).into_iter().flatten();
            with_sources(error)
                .find_map(|error| Permanent::code(error).or_else(|| within(error).find_map(of)))
        }
        of(self.get_ref())
    }

    /// The error itself: the user's own, that of a write, or a
    /// [`workflow::Error`](crate::workflow::Error).
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &**self.error
    }
}

/// The first error of that type: the error itself, one of its causes, or one that it stands for.
pub(super) fn find<'e, E: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e E> {
    let within = |error| Permanent::within(error).into_iter().chain(parts(error).into_iter().flatten());
    with_sources(error).find_map(|error| error.downcast_ref().or_else(|| within(error).find_map(find)))
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&error_chain(self.get_ref()))
    }
}
