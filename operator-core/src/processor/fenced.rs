//! Users' policies, whose panics affect only the primary that they were called for.
//!
//! They are called by the task that decides about all primaries of a controller. A panic there would end it, and with
//! it every run of the controller, and the only sign would be the message of the panic.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use super::{Admission, GenericRetry, KeyLimit, RateLimiter, Retry, RetryState};
use crate::environment::Now;

/// A retry that returns what the default one does if the user's panics.
pub(crate) struct FencedRetry(pub(crate) Arc<dyn Retry>);

impl Retry for FencedRetry {
    fn begin(&self) -> RetryState {
        fenced(|| self.0.begin()).unwrap_or_else(|| GenericRetry::default().begin())
    }

    fn next_delay(&self, state: &mut RetryState, now: Now) -> Option<Duration> {
        let before = *state;
        fenced(|| self.0.next_delay(state, now)).unwrap_or_else(|| {
            *state = before;
            GenericRetry::default().next_delay(state, now)
        })
    }

    fn is_last(&self, state: &RetryState) -> bool {
        fenced(|| self.0.is_last(state)).unwrap_or_else(|| GenericRetry::default().is_last(state))
    }

    fn server_delay(&self, state: &mut RetryState, now: Now) -> Duration {
        let before = *state;
        fenced(|| self.0.server_delay(state, now)).unwrap_or_else(|| {
            *state = before;
            GenericRetry::default().server_delay(state, now)
        })
    }
}

impl fmt::Debug for FencedRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A rate limiter that admits the run if the user's panics.
pub(crate) struct FencedRateLimiter(pub(crate) Arc<dyn RateLimiter>);

impl RateLimiter for FencedRateLimiter {
    fn for_key(&self, now: Now) -> Box<dyn KeyLimit> {
        Box::new(FencedLimit(fenced(|| self.0.for_key(now))))
    }
}

impl fmt::Debug for FencedRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The limit of one primary; none if it could not be made.
#[derive(Debug)]
struct FencedLimit(Option<Box<dyn KeyLimit>>);

impl KeyLimit for FencedLimit {
    fn admit(&mut self, now: Now) -> Admission {
        let Some(limit) = &mut self.0 else { return Admission::Admitted };
        fenced(|| limit.admit(now)).unwrap_or(Admission::Admitted)
    }
}

fn fenced<T>(ask: impl FnOnce() -> T) -> Option<T> {
    let answer = catch_unwind(AssertUnwindSafe(ask)).ok();
    if answer.is_none() {
        tracing::error!(
            "a retry or rate limiter panicked; the default retry, or no limit, is used for this call"
        );
    }
    answer
}
