//! How many Events a primary may have. Pure.
//!
//! As client-go's spam filter: a burst for each object, then one in each interval.

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use crate::{
    environment::{Now, Quota, QuotaState},
    resource::ObjectKey,
};

/// The number of Events that a primary may have at once.
const BURST: NonZeroU32 = NonZeroU32::new(25).expect("it is not zero");

/// The time after which it may have one more.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// What is left of the quotas of a controller's primaries.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    of: BTreeMap<ObjectKey, QuotaState>,
    /// That of all primaries that are gone, together: nothing would ever remove one of their own.
    gone: Option<QuotaState>,
}

impl Quotas {
    /// Takes one from the quota of a primary that exists, or doesn't. Returns whether there was one.
    pub(super) fn take(&mut self, primary: &ObjectKey, exists: bool, now: Now) -> bool {
        let start = || Quota::every(INTERVAL, BURST).start(now);
        let quota = match exists {
            true => self.of.entry(primary.clone()).or_insert_with(start),
            false => self.gone.get_or_insert_with(start),
        };
        quota.take(now).is_ok()
    }

    /// The primary is gone.
    pub(super) fn forget(&mut self, primary: &ObjectKey) {
        self.of.remove(primary);
    }

    /// The number of primaries that don't exist and have a quota.
    pub(super) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.of.keys().filter(|primary| !exists(primary)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Now {
        Now::at(Duration::from_secs(seconds))
    }

    /// How many of 100 pass.
    fn passed(quotas: &mut Quotas, primary: &ObjectKey, exists: bool, now: Now) -> usize {
        (0..100).filter(|_| quotas.take(primary, exists, now)).count()
    }

    #[test]
    fn a_primary_has_a_burst_and_then_one_now_and_then() {
        let (one, two) = (ObjectKey::namespaced("shop", "one"), ObjectKey::namespaced("shop", "two"));
        let mut quotas = Quotas::default();
        assert_eq!(passed(&mut quotas, &one, true, at(0)), 25);
        assert_eq!(passed(&mut quotas, &two, true, at(0)), 25, "each has its own");
        assert_eq!(passed(&mut quotas, &one, true, at(299)), 0);
        assert_eq!(passed(&mut quotas, &one, true, at(300)), 1);
        assert_eq!(passed(&mut quotas, &one, true, at(900)), 2);
    }

    #[test]
    fn what_is_kept_goes_with_the_primary() {
        let one = ObjectKey::namespaced("shop", "one");
        let mut quotas = Quotas::default();
        assert_eq!(passed(&mut quotas, &one, true, at(0)), 25);
        assert_eq!((quotas.leftovers(&|_| true), quotas.leftovers(&|_| false)), (0, 1));
        quotas.forget(&one);
        assert_eq!(quotas.leftovers(&|_| false), 0);
        assert_eq!(passed(&mut quotas, &one, false, at(0)), 25, "those that are gone share one");
        assert_eq!(passed(&mut quotas, &ObjectKey::namespaced("shop", "two"), false, at(0)), 0);
        assert_eq!(quotas.leftovers(&|_| false), 0);
    }
}
