//! How many Events a primary may have. Pure.
//!
//! As client-go's spam filter: a burst for each object, then one in each interval.

use std::{num::NonZeroU32, time::Duration};

use crate::environment::{Now, Quota, QuotaState};

/// The number of Events that a primary may have at once.
const BURST: NonZeroU32 = NonZeroU32::new(25).expect("it is not zero");

/// The time after which it may have one more.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// What is left of a primary's quota.
#[derive(Debug, Default)]
pub(super) struct EventQuota(Option<QuotaState>);

impl EventQuota {
    /// Takes one. Returns whether there was one.
    pub(super) fn take(&mut self, now: Now) -> bool {
        self.0.get_or_insert_with(|| Quota::every(INTERVAL, BURST).start(now)).take(now).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Now {
        Now::at(Duration::from_secs(seconds))
    }

    #[test]
    fn a_primary_has_a_burst_and_then_one_now_and_then() {
        let mut quota = EventQuota::default();
        let mut passed = |seconds| (0..100).filter(|_| quota.take(at(seconds))).count();
        assert_eq!([passed(0), passed(299), passed(300), passed(900)], [25, 0, 1, 2]);
    }
}
