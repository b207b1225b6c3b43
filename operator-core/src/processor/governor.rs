//! A rate limit that restores runs one by one.

use std::{num::NonZeroU32, time::Duration};

use super::{Admission, Error, KeyLimit, RateLimiter};
use crate::environment::{Now, Quota, QuotaState};

/// A burst of runs, which are restored one by one: after `limit` runs at once, one more in each `period / limit`.
/// Choose this one unless there is a reason for another.
///
/// JOSDK has only the [`LinearRateLimiter`](super::LinearRateLimiter), which restores all runs at once: with it, a
/// primary that changes all the time doesn't run until the period is over, and then runs `limit` times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GovernorRateLimiter(Quota);

impl GovernorRateLimiter {
    /// At most `limit` runs at once, and `limit` in each `period` in the long run.
    ///
    /// # Errors
    /// If the limit or the period is zero.
    pub fn new(limit: u32, period: Duration) -> Result<Self, Error> {
        let limit = NonZeroU32::new(limit).ok_or(Error::RateLimit)?;
        if period.is_zero() {
            return Err(Error::RateLimitPeriod);
        }
        Ok(Self(Quota::new(limit, period)))
    }
}

impl RateLimiter for GovernorRateLimiter {
    fn for_key(&self, now: Now) -> Box<dyn KeyLimit> {
        Box::new(self.0.start(now))
    }
}

impl KeyLimit for QuotaState {
    fn admit(&mut self, now: Now) -> Admission {
        match self.take(now) {
            Ok(()) => Admission::Admitted,
            Err(wait) => Admission::Wait(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn millis(n: u64) -> Now {
        Now::at(Duration::from_millis(n))
    }

    fn wait(millis: u64) -> Admission {
        Admission::Wait(Duration::from_millis(millis))
    }

    #[test]
    fn after_a_burst_runs_come_back_one_by_one() {
        let limiter = GovernorRateLimiter::new(4, Duration::from_secs(10)).unwrap();
        // A primary is first seen at any time, not at the operator's start.
        let mut limit = limiter.for_key(millis(60_000));
        for _ in 0..4 {
            assert_eq!(limit.admit(millis(60_000)), Admission::Admitted);
        }
        assert_eq!(limit.admit(millis(60_000)), wait(2_500));
        assert_eq!(limit.admit(millis(61_000)), wait(1_500), "asking costs nothing");
        assert_eq!(limit.admit(millis(62_499)), wait(1));
        assert_eq!(limit.admit(millis(62_500)), Admission::Admitted);
        assert_eq!(limit.admit(millis(62_500)), wait(2_500));
        assert_eq!(limit.admit(millis(67_500)), Admission::Admitted);
        assert_eq!(limit.admit(millis(67_500)), Admission::Admitted);
        assert_eq!(limit.admit(millis(67_500)), wait(2_500));
    }

    #[test]
    fn a_quiet_time_brings_back_one_burst_and_no_more() {
        let limiter = GovernorRateLimiter::new(2, Duration::from_secs(10)).unwrap();
        let mut limit = limiter.for_key(Now::START);
        for quiet in [0, 100_000, 200_000] {
            assert_eq!(limit.admit(millis(quiet)), Admission::Admitted);
            assert_eq!(limit.admit(millis(quiet)), Admission::Admitted);
            assert_eq!(limit.admit(millis(quiet)), wait(5_000));
        }
    }

    #[test]
    fn primaries_do_not_share_a_limit() {
        let limiter = GovernorRateLimiter::new(1, Duration::from_secs(10)).unwrap();
        let (mut one, mut other) = (limiter.for_key(Now::START), limiter.for_key(Now::START));
        assert_eq!(one.admit(Now::START), Admission::Admitted);
        assert_eq!(other.admit(Now::START), Admission::Admitted);
        assert_eq!(one.admit(Now::START), wait(10_000));
    }

    #[test]
    fn a_limit_that_admits_nothing_or_limits_nothing_is_refused() {
        assert_eq!(GovernorRateLimiter::new(0, Duration::from_secs(1)), Err(Error::RateLimit));
        assert_eq!(GovernorRateLimiter::new(1, Duration::ZERO), Err(Error::RateLimitPeriod));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// The oracle is a bucket that fills by the millisecond; a run takes 840 of them.
        #[test]
        fn it_admits_what_a_bucket_of_tokens_admits(
            limit in 1u32..8,
            pauses in proptest::collection::vec(0u64..4_000, 1..200),
        ) {
            let full = 840 * u64::from(limit);
            let limiter = GovernorRateLimiter::new(limit, Duration::from_millis(full)).unwrap();
            let mut state = limiter.for_key(Now::START);
            let (mut now, mut bucket) = (0, full);
            for pause in pauses {
                now += pause;
                bucket = (bucket + pause).min(full);
                if bucket >= 840 {
                    bucket -= 840;
                    prop_assert_eq!(state.admit(millis(now)), Admission::Admitted);
                } else {
                    prop_assert_eq!(state.admit(millis(now)), wait(840 - bucket));
                }
            }
        }
    }
}
