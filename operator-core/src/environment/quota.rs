//! A burst, then one at a time: the basis of rate limits.

use std::{cell::Cell, num::NonZeroU32, time::Duration};

use governor::{
    RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};

use super::Now;

/// As many as `burst` at once, then one in each `interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    burst: NonZeroU32,
    interval: Duration,
}

/// governor counts nanoseconds in 64 bits, and panics beyond. A moment or an interval this far away is "never".
const CENTURY: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

impl Quota {
    /// The whole `burst` comes back in `period`, one by one. A period beyond a century counts as one.
    pub(crate) fn new(burst: NonZeroU32, period: Duration) -> Self {
        Self::every(period.min(CENTURY) / burst.get(), burst)
    }

    /// One comes back in each `interval`, up to `burst`; all of them within four centuries at the latest.
    pub(crate) fn every(interval: Duration, burst: NonZeroU32) -> Self {
        Self { burst, interval: interval.min(4 * CENTURY / burst.get()).max(Duration::from_nanos(1)) }
    }

    /// The quota with its whole burst available, from `now` on.
    pub(crate) fn start(self, now: Now) -> QuotaState {
        let quota =
            governor::Quota::with_period(self.interval).expect("an interval is a nanosecond at least");
        QuotaState(RateLimiter::direct_with_clock(quota.allow_burst(self.burst), ManualClock(Cell::new(now))))
    }
}

/// How much of a quota is left.
#[derive(Debug)]
pub(crate) struct QuotaState(RateLimiter<NotKeyed, InMemoryState, ManualClock, NoOpMiddleware<Duration>>);

impl QuotaState {
    /// Takes one. The error has the time after which there will be one.
    pub(crate) fn take(&mut self, now: Now) -> Result<(), Duration> {
        let clock = self.0.clock();
        clock.0.set(now);
        let now = clock.now();
        self.0.check().map_err(|too_early| too_early.wait_time_from(now))
    }
}

/// A clock that shows the time it was last set to.
#[derive(Debug)]
struct ManualClock(Cell<Now>);

impl Clock for ManualClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.get().since_start().min(CENTURY)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_and_numbers_beyond_all_measure_do_not_panic() {
        let mut slow = Quota::new(NonZeroU32::MIN, Duration::MAX).start(Now::at(Duration::MAX));
        assert_eq!(slow.take(Now::START), Ok(()));
        assert!(slow.take(Now::at(Duration::MAX)).is_err());
        let mut quick = Quota::new(NonZeroU32::MAX, Duration::from_nanos(1)).start(Now::START);
        assert_eq!(quick.take(Now::at(Duration::MAX)), Ok(()));
        let mut patient = Quota::every(Duration::from_secs(1), NonZeroU32::MAX).start(Now::START);
        assert_eq!(patient.take(Now::at(Duration::MAX)), Ok(()));
        assert_eq!(patient.take(Now::START), Ok(()));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn any_quota_at_any_time_admits_or_says_when(
            burst in 1_u32..,
            interval: Duration,
            times in prop::collection::vec(any::<Duration>(), 0..20),
        ) {
            let burst = NonZeroU32::new(burst).unwrap();
            for quota in [Quota::new(burst, interval), Quota::every(interval, burst)] {
                let mut left = quota.start(Now::START);
                prop_assert!(left.take(Now::START).is_ok());
                for time in &times {
                    prop_assert_ne!(left.take(Now::at(*time)), Err(Duration::ZERO));
                }
            }
        }
    }
}
