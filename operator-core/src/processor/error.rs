//! The errors in a processor's policies.

use std::time::Duration;

/// A retry or a rate limit that can't work. Found when it is built, never during a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The delay before a retry is less than a millisecond: failing runs would follow each other without a pause.
    #[error("the interval between retries is {0:?}; it must be at least 1ms")]
    RetryInterval(Duration),
    /// The multiplier is below one or not a number: the delays would shrink.
    #[error("the retry's interval multiplier is {0}; it must be a finite number and at least 1")]
    RetryMultiplier(f64),
    /// The limit of a rate limiter is zero: nothing would ever run.
    #[error(
        "the rate limit is 0 runs; it must be at least 1, or leave the rate limiter out to have no limit"
    )]
    RateLimit,
    /// The period of a rate limiter is zero: it would limit nothing.
    #[error("the period of the rate limit is zero; leave the rate limiter out to have no limit")]
    RateLimitPeriod,
}
