//! How often one primary may run.

use std::{fmt, time::Duration};

use super::Error;
use crate::environment::Now;

/// A limit on the runs of each primary. One value serves a whole controller and makes a [`KeyLimit`] for each primary.
/// A controller without one has no limit. JOSDK: `RateLimiter`.
///
/// It is called by the task that decides about all primaries of a controller: a panic stops the controller.
pub trait RateLimiter: fmt::Debug + Send + Sync {
    /// The limit's state for a primary that is about to run for the first time.
    fn for_key(&self, now: Now) -> Box<dyn KeyLimit>;
}

/// The state of a rate limit for one primary. It is dropped with the primary. JOSDK: `RateState`.
pub trait KeyLimit: fmt::Debug + Send {
    /// Requests one run, and counts it if it is admitted.
    fn admit(&mut self, now: Now) -> Admission;
}

/// The result of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The run may start, and was counted.
    Admitted,
    /// The run may not start. The limiter is called again after this time; the processor waits at least 50 ms.
    Wait(Duration),
}

/// A number of runs in a period, counted as in JOSDK's limiter of the same name.
///
/// The period starts with the primary's first run. A new period starts only when its runs are used up and it is over:
/// runs left over from an old period are used before a new one starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearRateLimiter {
    limit: u32,
    period: Duration,
}

impl LinearRateLimiter {
    /// At most `limit` runs in each `period`.
    ///
    /// # Errors
    /// If the limit or the period is zero.
    pub fn new(limit: u32, period: Duration) -> Result<Self, Error> {
        if limit == 0 {
            return Err(Error::RateLimit);
        }
        if period.is_zero() {
            return Err(Error::RateLimitPeriod);
        }
        Ok(Self { limit, period })
    }
}

impl RateLimiter for LinearRateLimiter {
    fn for_key(&self, now: Now) -> Box<dyn KeyLimit> {
        Box::new(LinearLimit { limiter: *self, last_refresh: now, count: 0 })
    }
}

#[derive(Debug)]
struct LinearLimit {
    limiter: LinearRateLimiter,
    last_refresh: Now,
    count: u32,
}

impl KeyLimit for LinearLimit {
    fn admit(&mut self, now: Now) -> Admission {
        let ends = self.last_refresh + self.limiter.period;
        if self.count < self.limiter.limit {
            self.count += 1;
        } else if ends < now {
            self.last_refresh = now;
            self.count = 1;
        } else {
            return Admission::Wait(ends.since(now));
        }
        Admission::Admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: u64) -> Now {
        Now::at(Duration::from_secs(n))
    }

    #[test]
    fn the_limit_is_for_one_period_and_says_how_long_is_left() {
        let mut limit = LinearRateLimiter::new(2, Duration::from_secs(10)).unwrap().for_key(second(0));
        assert_eq!(limit.admit(second(1)), Admission::Admitted);
        assert_eq!(limit.admit(second(2)), Admission::Admitted);
        assert_eq!(limit.admit(second(3)), Admission::Wait(Duration::from_secs(7)));
        assert_eq!(limit.admit(second(10)), Admission::Wait(Duration::ZERO));
        assert_eq!(limit.admit(second(11)), Admission::Admitted);
        assert_eq!(limit.admit(second(12)), Admission::Admitted);
        assert_eq!(limit.admit(second(13)), Admission::Wait(Duration::from_secs(8)));
    }

    #[test]
    fn runs_left_over_from_an_old_period_are_used_first() {
        let mut limit = LinearRateLimiter::new(2, Duration::from_secs(10)).unwrap().for_key(second(0));
        assert_eq!(limit.admit(second(0)), Admission::Admitted);
        assert_eq!(limit.admit(second(100)), Admission::Admitted);
        assert_eq!(limit.admit(second(100)), Admission::Admitted);
        assert_eq!(limit.admit(second(100)), Admission::Admitted);
        assert_eq!(limit.admit(second(100)), Admission::Wait(Duration::from_secs(10)));
    }

    #[test]
    fn a_limit_that_admits_nothing_or_limits_nothing_is_refused() {
        assert_eq!(LinearRateLimiter::new(0, Duration::from_secs(1)), Err(Error::RateLimit));
        assert_eq!(LinearRateLimiter::new(1, Duration::ZERO), Err(Error::RateLimitPeriod));
    }
}
